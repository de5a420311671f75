"""Gradio is imported without parsing its own source, and nothing is left changed."""

import subprocess
import sys

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
