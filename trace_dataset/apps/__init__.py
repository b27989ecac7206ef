"""The pages of the Spaces: a metric on text that is typed in, a conversation with a baseline, the leaderboard.

`widgets` needs Gradio and nothing of this project, so that a Space may carry a copy of it; the rest runs where
`trace-dataset[app]` is installed.
"""
