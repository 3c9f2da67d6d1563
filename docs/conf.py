"""Configuration of the documentation site: ``make docs``."""

import html
import io
import re
import sys
import warnings
from pathlib import Path

from docutils.nodes import SkipNode, Text, entry, literal, reference
from matplotlib import rc_context
from matplotlib.mathtext import math_to_image
from numpydoc.docscrape import NumpyDocString
from numpydoc.docscrape_sphinx import SphinxDocString

import graphheat

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "scripts"))

from api_pages import write_pages  # noqa: E402
from inventories import write_inventories  # noqa: E402

# Layers have a section "Shapes", which numpydoc does not know: it comes before the notes.
NumpyDocString.sections["Shapes"] = []
_section = SphinxDocString._str_section


def _with_shapes(docstring, name):  # type: ignore[no-untyped-def]
    shapes = _section(docstring, "Shapes") if name == "Notes" else []
    return shapes + _section(docstring, name)


SphinxDocString._str_section = _with_shapes

project = "graphheat"
author = "The graphheat developers"
copyright = "The graphheat developers"
release = version = graphheat.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/README*", "**/sg_execution_times*"]
templates_path = ["_templates"]
root_doc = "index"

# ------------------------------------------------------------------ text

myst_enable_extensions = ["deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
# A link to a file of the repository that is no page of the site, such as a script.
suppress_warnings = ["myst.header"]

# ------------------------------------------------------------------ reference

ALIASES = write_pages(HERE / "api")
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
intersphinx_mapping = write_inventories(HERE / "_build" / "inventories")
intersphinx_disabled_reftypes = ["std:*"]

# ------------------------------------------------------------------ gallery

warnings.filterwarnings("ignore", message="`torch.jit.script` is deprecated")
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_signature": False,
    "plot_gallery": True,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(HERE / "explorer" / "case.png"),
}

# ------------------------------------------------------------------ look

html_theme = "pydata_sphinx_theme"
html_title = "graphheat"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["cora.html"]
html_math_renderer = "mathtext"
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "install": []}


def _under_another_name(app, env, node, contnode):  # type: ignore[no-untyped-def]
    """Resolve ``graphheat.nn.HeatConv`` to where the object is documented."""
    target = node.get("reftarget", "")
    owner, _, member = target.rpartition(".")
    known = ALIASES.get(target) or (f"{ALIASES[owner]}.{member}" if owner in ALIASES else None)
    if known is None or known == target:
        return None
    python = env.get_domain("py")
    return python.resolve_xref(
        env, node.get("refdoc", ""), app.builder, node.get("reftype", "obj"), known, node, contnode
    )


def _formula(latex: str) -> str:
    """Return a formula as an SVG of matplotlib's mathtext: no script, and nothing to fetch."""
    plain = " ".join(latex.split()).replace(r"\top", "T")
    plain = re.sub(r"\\(left|right|Big|big)(?![a-z])", "", plain)
    stream = io.StringIO()
    try:
        with rc_context({"savefig.transparent": True}):
            math_to_image(f"${plain}$", stream, format="svg", dpi=110)
    except ValueError:  # more than mathtext knows
        return f"<code>{html.escape(latex)}</code>"
    picture = stream.getvalue()
    return picture[picture.index("<svg") :].replace("<svg", '<svg fill="currentColor"', 1)


def _inline_formula(writer, node):  # type: ignore[no-untyped-def]
    writer.body.append(f'<span class="formula">{_formula(node.astext())}</span>')
    raise SkipNode


def _shown_formula(writer, node):  # type: ignore[no-untyped-def]
    writer.body.append(f'<div class="formula">{_formula(node.astext())}</div>')
    raise SkipNode


def _polished(app, doctree, docname):  # type: ignore[no-untyped-def]
    """Link the documents that docstrings name; keep mean ± std of a table's cell on one line."""
    linked = {id(part) for link in doctree.findall(reference) for part in link.findall(literal)}
    for named in list(doctree.findall(literal)):
        page = re.fullmatch(r"docs/([\w/-]+)\.md", named.astext())
        if page and page[1] in app.env.found_docs and id(named) not in linked:
            link = reference(refuri=app.builder.get_relative_uri(docname, page[1]), internal=True)
            named.replace_self(link)
            link += named
    for cell in doctree.findall(entry):
        for text in list(cell.findall(Text)):
            if " ± " in text:
                text.parent.replace(text, Text(text.replace(" ± ", "\u00a0±\u00a0")))


def setup(app):  # type: ignore[no-untyped-def]
    """Register what links and formulas need."""
    app.connect("missing-reference", _under_another_name)
    app.connect("doctree-resolved", _polished)
    app.add_html_math_renderer("mathtext", (_inline_formula, None), (_shown_formula, None))
