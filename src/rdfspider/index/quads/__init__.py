"""The quad store (Oxigraph): what writes page graphs and their merge, and what asks snapshots of it."""
