import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

/** File that the bundles of the password functions load from beside them. */
export const nativeFile = 'bcrypt.linux-x64-gnu.node';

/** `e_machine` of an ELF file for x86-64. */
const x86 = 0x3e;

/**
 * Path of bcrypt's binary for Lambda on x86_64. Throws where it is not installed or made for another machine:
 * a deployment without it would fail on the first log-in only.
 */
export const nativeBcrypt = (): string => {
  const fromBcrypt = createRequire(createRequire(import.meta.url).resolve('@node-rs/bcrypt'));
  let file: string;
  try {
    file = fromBcrypt.resolve('@node-rs/bcrypt-linux-x64-gnu');
  } catch {
    throw new Error(
      'The password functions need @node-rs/bcrypt-linux-x64-gnu. Run: npm install --os=linux --cpu=x64 --libc=glibc',
    );
  }
  const header = readFileSync(file).subarray(0, 20);
  if (header.toString('latin1', 1, 4) !== 'ELF' || header.readUInt16LE(18) !== x86) {
    throw new Error(`${file} is not a program for Linux on x86_64`);
  }
  return file;
};

/** Lets `@node-rs/bcrypt` load its binary from the function's own folder instead of searching for one. */
export const bcryptFromFolder: Plugin = {
  name: 'bcrypt-from-folder',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      importer.replaceAll('\\', '/').endsWith('@node-rs/bcrypt/index.js')
        ? { path: `./${nativeFile}`, external: true }
        : undefined,
    );
  },
};
