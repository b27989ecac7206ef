"""Serves the Spaces of several folders from one process, as `python app.py` would in each: `python many.py PORT FOLDER…`.

Prints a line of JSON, folder to address or what went wrong, and stays until its standard input is closed.
"""

import json
import os
import runpy
import sys

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio


def main() -> None:
    """Run each folder's app.py under its own port."""
    port, addresses = int(sys.argv[1]), {}
    gradio.Blocks.block_thread = lambda blocks: None  # launch comes back, so that the next one can start
    for at, folder in enumerate(sys.argv[2:]):
        os.environ["GRADIO_SERVER_PORT"] = str(port + at)
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            runpy.run_path(os.path.join(folder, "app.py"), run_name="__main__")
            addresses[folder] = f"http://127.0.0.1:{port + at}/"
        except Exception as error:
            addresses[folder] = f"{type(error).__name__}: {error}"
        sys.path.remove(folder)
    print("READY " + json.dumps(addresses), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
