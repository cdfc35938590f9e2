/** Replaces the package `whatwg-url` in the bundles. Node has the same classes, which saves 280 KiB. */
export { URL, URLSearchParams } from 'node:url';
