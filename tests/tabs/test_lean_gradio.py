"""Gradio is imported without parsing its own source, and a session describes nothing and keeps no answers."""

import subprocess
import sys

import gradio as gr
from gradio.state_holder import SessionState

import explorer.tabs  # noqa: F401

PROGRAM = """
import ast, inspect
read, find = [], inspect.getfile
segment = ast.get_source_segment
ast.get_source_segment = lambda *given, **named: read.append(given[1].name) or segment(*given, **named)
import explorer.tabs
import gradio
assert not read, read
assert inspect.getfile is find
print(inspect.getfile(gradio.Textbox))
"""


def test_no_component_is_parsed_and_each_has_its_file_again():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("textbox.py")


def test_a_session_describes_nothing_and_keeps_no_answers():
    with gr.Blocks() as page:
        box = gr.Textbox("first", label="Text")
        gr.Markdown("Beside it")
    session = SessionState(page)
    assert session[box._id] is box
    session._update_value_in_config(box._id, "second")
    session._update_config(box._id)
    assert session.config_values == {}
    assert box.value == "first"
