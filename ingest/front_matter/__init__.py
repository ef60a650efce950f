"""Front matter: what it says of a page, who may read that page, and whether the page is in force."""
