// Replaced by the build: true in the script of the twin's page, where samples keep arriving; false in the scripts of report pages.
declare const LIVE: boolean;
