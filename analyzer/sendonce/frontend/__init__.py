"""Front ends: they turn source files into facts and are the only readers of syntax trees."""
