import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { linuxPackage } from './linux-package.ts';

const fromSharp = createRequire(createRequire(import.meta.url).resolve('sharp'));

/** What `sharp` requires of other packages, in any machine's language. */
const plain = ['@img/colour', 'detect-libc', 'semver'];

/** Its program and its libraries for Linux on x86_64. */
const native = ['@img/sharp-linux-x64', '@img/sharp-libvips-linux-x64'];

const folderOf = (name: string): string => {
  const main = fromSharp.resolve(name);
  const end = join('node_modules', name);
  return main.slice(0, main.lastIndexOf(end) + end.length);
};

/** Puts `sharp` with all that it loads into the folder of a bundle, where Node finds it. */
export const sharpPackages = async (folder: string): Promise<void> => {
  const own = dirname(dirname(fromSharp.resolve('sharp')));
  const found = await Promise.all(native.map(async (name) => [name, await linuxPackage(name, 'sharp')] as const));
  const all = [['sharp', own] as const, ...plain.map((name) => [name, folderOf(name)] as const), ...found];
  for (const [name, from] of all) {
    await cp(from, join(folder, 'node_modules', name), {
      recursive: true,
      // Sources, which nothing loads.
      filter: (path) => path !== join(own, 'src') && path !== join(own, 'install'),
    });
  }
};
