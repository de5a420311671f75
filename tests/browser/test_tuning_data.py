"""The panel of examples in the tab Fine-tune, driven as a visitor would: files that are none, pasted rows, edits."""

import gzip
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

GOOD = "id,what <b>,said\n" + "".join(f'{n},{["<i>a</i>", "b"][n % 2]},"number, {n} </script>"\n' for n in range(40))


def give(page, path):
    with page.expect_file_chooser() as chooser:
        page.locator("#tune-file").click()
    chooser.value.set_files(path)


@pytest.mark.slow
def test_examples_are_given_looked_at_and_changed(open_page, tmp_path):
    page = open_page("?tab=fine-tune")
    said = page.locator("#tune-data-said")
    expect(said).to_contain_text("189 to learn from, 63 held out")
    page.locator("#tune-source").get_by_text("Yours").click()
    expect(said).to_contain_text("Load a file")

    (tmp_path / "page.csv").write_text("<!doctype html><html><body>Not found</body></html>")
    with zipfile.ZipFile(tmp_path / "packed.csv", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv", "0" * 2**24)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a" * 2**20, 9) * 80)
    (tmp_path / "one.csv").write_text("text,label\nonly this,a\n")
    (tmp_path / "class.csv").write_text("text,label\n" + "".join(f"sentence {n},a\n" for n in range(20)))
    (tmp_path / "cells.csv").write_text(
        "text,label\n" + "".join(f"sentence {n},{'ab'[n % 2]}\n" for n in range(20)) + ",a\nno label,\n"
    )
    (tmp_path / "rows.csv").write_text(
        "text,label\n" + "".join(f"sentence {n},{'ab'[n % 2]}\n" for n in range(100_000))
    )
    (tmp_path / "large.csv").write_text(
        "text,label\n" + "".join(f'"{"word " * 25}{n}",{"ab"[n % 2]}\n' for n in range(390_000))
    )
    for name, words in [
        ("page.csv", "is a web page"),
        ("packed.csv", "a zip file"),
        ("bomb.csv.gz", "more than 64 MiB"),
        ("one.csv", "There is one example"),
        ("class.csv", "nothing to tell apart"),
        ("cells.csv", "2 of 22 were left out: the text is empty (row 22); the label is empty (row 23)."),
        ("rows.csv", "Of 100,000 examples 20,000 are learned from"),
        ("large.csv", "Of 390,000 examples 20,000"),  # 50 MB
    ]:
        give(page, tmp_path / name)
        expect(said).to_contain_text(words, timeout=60_000)

    (tmp_path / "good.csv").write_text(GOOD)
    give(page, tmp_path / "good.csv")
    expect(said).to_contain_text("good.csv: 40 examples; 8 of them (20 %) are")
    expect(said.locator("tr", has_text="<i>a</i>")).to_contain_text("20 · 50 %")
    expect(page.locator("#tune-column-0 input")).to_have_value("said")
    expect(page.locator("#tune-column-1 input")).to_have_value("what <b>")
    page.locator("#tune-rows").get_by_role("button").first.click()
    cell = page.locator("#tune-table [data-testid='cell-0-1']")
    cell.dblclick()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("rare")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("“rare” has fewer than 4 examples")
    page.locator("#tune-column-1 input").click()
    page.get_by_role("option", name="id", exact=True).click()
    expect(said).to_contain_text("40 classes among 40 examples")

    page.locator("#tune-paste textarea").fill("one column")
    expect(said).to_contain_text("The pasted text has one column")
    page.locator("#tune-paste textarea").fill("")
    expect(said).to_contain_text("Load a file, paste some rows")
    page.locator("#tune-paste textarea").fill(
        "نص\tنوع\n" + "\n".join(f"جملة رقم {n}\t{['جيد', 'سيئ'][n % 2]}" for n in range(12))
    )
    expect(said).to_contain_text("The pasted text: 12 examples")
    expect(said).to_contain_text("جيد")
    again = page.locator("#tune-paste textarea").input_value()
    page.evaluate("text => navigator.clipboard.writeText(text)", again)
    page.locator("#tune-paste textarea").press("ControlOrMeta+a")
    for key in ("Delete", "ControlOrMeta+v"):  # of both, one at a time is read
        page.keyboard.press(key)
    come_to_rest(page)
    expect(page.locator("#tune-paste textarea")).to_have_value(again)
    expect(said).to_contain_text("The pasted text: 12 examples")
    page.locator("#tune-paste textarea").fill("")
    expect(said).to_contain_text("Load a file, paste some rows")
    expect(page.locator("#tune-otherwise")).to_contain_text("The examples will not do yet")
    page.locator("#tune-paste textarea").fill(again)
    expect(said).to_contain_text("The pasted text: 12 examples")
    page.locator("#tune-task input").click()
    page.get_by_role("option", name="Tag words").click()
    expect(said).to_contain_text("can be used")
    page.locator("#tune-source").get_by_text("Ours", exact=True).click()
    expect(said).to_contain_text("97 to learn from, 32 held out")
    expect(page.locator("#tune-file")).to_be_hidden()
