"""How figures of the gallery are drawn, and in which order its pages stand."""

_FIRST = ("rain", "which_family", "does_it_fit", "confounder", "intervals", "parquet", "reading_the_report")


class OverviewsFirst:
    """Sort the pages of a group: those that introduce it come first, the others by name."""

    def __init__(self, src_dir):
        pass

    def __call__(self, filename):
        """The key of a page."""
        name = filename.removesuffix(".py")
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def reset(gallery_conf, fname):
    """Leave room for titles and legends that lie outside of the axes."""
    import matplotlib as mpl

    mpl.rcParams["savefig.bbox"] = "tight"
    mpl.rcParams["savefig.facecolor"] = "white"
