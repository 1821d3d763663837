"""Files that the documents name exist. XX, NAME and * stand for anything."""

import re

import pytest
from tree import LAYERS, ROOT

pytestmark = pytest.mark.same_everywhere

TOP = (*LAYERS, "python", "tests", "docs", "examples", "benchmarks", "cmake")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(p for top in TOP for p in (ROOT / top).rglob("README.md"))])
SUFFIXES = r"(?:c|h|def|py|md|txt|cmake|toml)"


def exists(name, document):
    """From the root, beside the document, or, for a bare name, anywhere in the tree."""
    pattern = re.sub(r"XX|NAME|<\w+>|\.\.\.|…", "*", name).rstrip("/")
    if re.fullmatch(r"[*./]*", pattern):
        return True
    expanded = [pattern]
    if brace := re.match(r"(.*)\{([^}]*)\}(.*)", pattern):
        expanded = [brace[1] + part.strip() + brace[3] for part in brace[2].split(",")]
    return all(
        any(ROOT.glob(p)) or any(document.parent.glob(p)) or ("/" not in p and any(q for top in TOP for q in (ROOT / top).rglob(p)))
        for p in expanded
    )


def named_files(text):
    """Paths in code spans and indented blocks, and the targets of links."""
    code = "\n".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"^(?: {4}|\t)(.*)$", text, re.M))
    yield from re.findall(rf"(?<![\w/.~$-])((?:[\w*{{}},.-]+/)*[\w*{{}},-]+(?:\.[\w*]+)*\.{SUFFIXES})(?![\w(/])", code)
    yield from re.findall(rf"(?<![\w/.~$-])((?:{'|'.join(TOP)})/(?:[\w-]+/)*)(?![\w*{{<.])", code)
    prose = re.sub(r"`[^`\n]+`|^(?: {4}|\t).*$", "", text, flags=re.M)
    yield from (link for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose) if "://" not in link)


# Names that a document invents to show something; a reader must not look for them.
INVENTED = re.compile(r"^(script|file|FILE|my\w*|example|[a-z]|app|program|mod|module|prog|out|log|tour)\.(py|txt)$")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_files_exist(document):
    names = sorted(set(named_files(document.read_text(encoding="utf-8"))))
    assert [name for name in names if not INVENTED.match(name) and not exists(name, document)] == []


def test_every_top_folder_and_recipe_is_there():
    wanted = [f"{layer}/README.md" for layer in LAYERS] + [f"docs/{name}.md" for name in ("tour", "add-a-numpy-function", "add-a-python-version")]
    assert [name for name in wanted if not (ROOT / name).exists()] == []
