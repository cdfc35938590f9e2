// Loads the function in a folder like Lambda does, and writes V8's code cache.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder] = process.argv;
const file = join(folder, `${process.version}-${process.arch}.cache`);
rmSync(file, { force: true });
const { script } = await import(pathToFileURL(join(folder, 'index.mjs')).href);
writeFileSync(file, script.createCachedData());
