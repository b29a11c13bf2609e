module tarry.io/go/tarry

go 1.21
