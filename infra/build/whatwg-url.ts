/** Stands in for the package `whatwg-url` in the bundles: Node has the same classes, 280 KiB lighter. */
export { URL, URLSearchParams } from 'node:url';
