"""What all kinds of data share: catalogues of names, files that are looked for, unpacked, verified or fetched."""
