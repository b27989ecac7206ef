"""How the pages look and how they are served: one style sheet, no request to anywhere else.

Meaning never rests on colour alone: every kind of mark has a line style and a sign of its own, so a page reads in black
and white. Texts of users stand in the direction of their script.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

LONGEST = 100_000  # characters that a page takes at once; more is a job for Python

CSS = """
.gradio-container {max-width: 1120px !important; width: 100% !important; min-width: 0 !important;
  margin: 0 auto !important; padding: 0 !important}
.gradio-container > .main {padding: 16px 20px !important; max-width: 100% !important; min-width: 0}
.gradio-container > .main > .wrap, .gradio-container .contain {min-width: 0; max-width: 100%}
.gradio-container .html-container {padding: 0 !important}
.trace {color: var(--body-text-color); line-height: 1.55; font-size: 15px; overflow-wrap: anywhere}
.trace h1 {font-size: 1.55em; line-height: 1.25; margin: .3em 0 .2em; font-weight: 650}
.trace h2 {font-size: 1.08em; margin: 1em 0 .35em; font-weight: 650}
.trace p {margin: .35em 0}
.trace .lead {font-size: 1.05em; max-width: 46em}
.trace .quiet {color: var(--body-text-color-subdued); font-size: .92em}
.trace .said {white-space: pre-wrap; unicode-bidi: plaintext; text-align: start; background: var(--background-fill-secondary);
  border: 1px solid var(--border-color-primary); border-radius: 6px; padding: .65em .85em; line-height: 1.9; margin: .3em 0}
.trace .auto {unicode-bidi: plaintext; text-align: start}
.trace .wrong {border: 1px solid; border-inline-start-width: 6px; border-radius: 4px; padding: .6em .85em; margin: .3em 0}
.trace .wrong b::before {content: "! "}
.trace .wide {overflow-x: auto; margin: .3em 0}
.trace table {border-collapse: collapse; width: 100%; font-size: .95em; margin: 0 !important; border: 0 !important;
  overflow-wrap: normal}
.trace tr, .trace thead, .trace tbody {border: 0 !important; background: none !important}
.trace th, .trace td {border: 0; border-bottom: 1px solid var(--border-color-primary); padding: .38em .6em; text-align: start;
  vertical-align: top; background: none !important}
.trace th {font-weight: 600; white-space: nowrap; hyphens: none}
.trace td.number, .trace th.number {text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap}
.trace caption {text-align: start; font-size: .92em; color: var(--body-text-color-subdued); padding: .2em 0}
.trace td code {white-space: nowrap}
.trace .first th:first-child, .trace .first td:first-child {position: sticky; inset-inline-start: 0; min-width: 8.5em;
  max-width: 15em; background: var(--background-fill-primary) !important; overflow-wrap: anywhere}
.trace code {white-space: normal; font-size: .9em; background: var(--background-fill-secondary); padding: .1em .3em;
  border-radius: 3px}
.trace .score {display: flex; flex-wrap: wrap; align-items: baseline; gap: .2em .7em; margin: .2em 0 .5em}
.trace .score strong {font-size: 2.3em; line-height: 1.1; font-variant-numeric: tabular-nums}
.trace ul.legend {display: flex; flex-wrap: wrap; gap: .2em 1.1em; padding: 0; margin: .4em 0; list-style: none;
  font-size: .92em}
.trace ul.legend li {margin: 0}
.trace .m {border-radius: 2px; padding: .08em .06em; color: inherit}
.trace .verified {background: #cfe3f5; color: #111; border-bottom: 3px solid #16548a}
.trace .fuzzy {background: #f3ecd2; color: #111; border-bottom: 3px dashed #7a5c00}
.trace .unsupported {background: #f6dcd6; color: #111;
  text-decoration: underline wavy #9c2b10 2px; text-underline-offset: 4px}
.trace .backed {outline: 1.5px solid #555}
.trace .bare {outline: 1.5px dotted #555}
.trace .label {font-weight: 700; white-space: nowrap}
.trace .nolabel {font-weight: 700; text-decoration: line-through}
.trace .yes {font-weight: 700; border-bottom: 3px solid #16548a}
.trace .no {text-decoration: line-through}
.trace sup.sign {font-size: .72em; font-weight: 700; padding: 0 .15em; user-select: none}
.trace details {margin: .4em 0} .trace summary {cursor: pointer; font-weight: 600; padding: .2em 0}
.trace summary:focus-visible, .gradio-container button:focus-visible, .gradio-container textarea:focus-visible,
  .gradio-container input:focus-visible {outline: 3px solid #16548a !important; outline-offset: 2px}
.trace .talk {max-height: 540px; overflow-y: auto; display: flex; flex-direction: column-reverse}
.trace .talk ol {list-style: none; margin: .3em 0; padding: 0}
.trace .talk li {margin: .5em 0}
.trace .talk li.user {margin-inline-start: 2.2em}
.trace .talk li.system .said {border-inline-start: 5px solid #16548a}
.trace svg {max-width: 100%; height: auto; display: block}
.trace svg.figure {width: 100%; max-width: 720px}
.trace svg text {fill: currentColor; font-family: inherit}
.trace .hidden {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
.gradio-container textarea {unicode-bidi: plaintext; text-align: start; line-height: 1.5}
.gradio-container .small button, .gradio-container button.small {min-width: 0; flex: 0 1 auto}
footer {display: none !important}
@media (max-width: 520px) {.gradio-container > .main {padding: 8px 10px !important} .trace h1 {font-size: 1.3em}
  .trace .score strong {font-size: 1.9em} .trace th, .trace td {padding: .3em .4em}}
@media print {.trace .verified, .trace .fuzzy, .trace .unsupported {background: none}}
"""


def import_gradio() -> Any:
    """Return Gradio; raises an `ImportError` that says how to install it."""
    try:
        import gradio
    except ImportError as error:
        how = 'pip install "trace-dataset[app]", or in a Space: pip install -r requirements.txt'
        raise ImportError(f"this page needs Gradio, which is not installed\n  do: {how}") from error
    return gradio


def block(html: str, **attributes: str) -> str:
    """Return a piece of a page in the common style."""
    extra = "".join(f' {name.replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
    return f'<div class="trace"{extra}>{html}</div>'


def wrong(what: str, do: str | None = None) -> str:
    """Return a message about something that the reader can mend; both texts are escaped."""
    advice = f"<br>{escape(do)}" if do else ""
    return block(f'<div class="wrong" role="alert"><b>{escape(what)}</b>{advice}</div>')


def table(
    header: list[str], rows: list[list[str]], numbers: tuple[int, ...] = (), caption: str = "", label: str = ""
) -> str:
    """Return a table of cells that are HTML already; columns in `numbers` are set right-aligned.

    A wide table scrolls in its own frame, which the keyboard reaches too.
    """
    kind = [' class="number"' if at in numbers else "" for at in range(len(header))]
    head = "".join(f'<th scope="col"{kind[at]}>{cell}</th>' for at, cell in enumerate(header))
    body = "".join(
        "<tr>" + "".join(f"<td{kind[at]}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    name = escape(label or "table")
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table>{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def number(value: Any, digits: int = 3) -> str:
    """Return a score as text: a float with its digits, None as a dash with its meaning."""
    if value is None:
        return '<span title="no value: nothing to measure">–</span>'
    return f"{value:.{digits}f}" if isinstance(value, float) else escape(str(value))


def where_it_failed(error: BaseException) -> str:
    """Return the kind of an error, and the file and line it came from: not its message, which may quote what was typed."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" at {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at is not None else ""
    return f"{type(error).__name__}{place}"


def serve(page: Any, title: str = "") -> Any:
    """Serve a page as a Space does, and return when the process is asked to end.

    Where and on which port Gradio's own variables say: GRADIO_SERVER_NAME and GRADIO_SERVER_PORT.
    """
    page.title = title or page.title
    page.queue(default_concurrency_limit=8, max_size=256, api_open=False)
    return page.launch(
        css=CSS,
        theme=theme(),
        share=False,
        quiet=True,
        ssr_mode=False,
        run_history=False,
        footer_links=[],
        show_error=False,
        max_file_size="2mb",
        state_session_capacity=2000,
    )


def theme() -> Any:
    """Return a plain theme in the reader's own fonts."""
    gr = import_gradio()
    fonts = ["ui-sans-serif", "system-ui", "sans-serif"]
    base = gr.themes.Base(
        primary_hue="slate", neutral_hue="slate", radius_size="sm", font=fonts, font_mono=["monospace"]
    )
    subdued = {"body_text_color_subdued": "*neutral_600", "body_text_color_subdued_dark": "*neutral_300"}
    info = {"block_info_text_color": "*neutral_600", "block_info_text_color_dark": "*neutral_300"}
    titles = {
        "block_title_text_color": "*neutral_800",
        "block_title_text_color_dark": "*neutral_100",
    }
    blue = {"button_primary_background_fill": "#16548a", "button_primary_background_fill_hover": "#0f3f68"}
    buttons = blue | {f"{name}_dark": value for name, value in blue.items()}
    return base.set(**subdued, **info, **titles, **buttons)
