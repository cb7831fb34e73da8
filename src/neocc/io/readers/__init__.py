"""One module per kind of file; `neocc.io._registry` lists them."""
