// In place of the package's Chart.js: the admin draws no charts.
