import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { linuxPackage } from './linux-package.ts';

const fromSharp = createRequire(createRequire(import.meta.url).resolve('sharp'));

/** Dependencies of `sharp` without native code. */
const plain = ['@img/colour', 'detect-libc', 'semver'];

/** Its native packages for Linux x64. */
const native = ['@img/sharp-linux-x64', '@img/sharp-libvips-linux-x64'];

const folderOf = (name: string): string => {
  const main = fromSharp.resolve(name);
  const end = join('node_modules', name);
  return main.slice(0, main.lastIndexOf(end) + end.length);
};

/** Copies `sharp` and its dependencies into a bundle's folder. */
export const sharpPackages = async (folder: string): Promise<void> => {
  const own = dirname(dirname(fromSharp.resolve('sharp')));
  const found = await Promise.all(native.map(async (name) => [name, await linuxPackage(name, 'sharp')] as const));
  const all = [['sharp', own] as const, ...plain.map((name) => [name, folderOf(name)] as const), ...found];
  for (const [name, from] of all) {
    await cp(from, join(folder, 'node_modules', name), {
      recursive: true,
      // Sources are not needed at run time.
      filter: (path) => path !== join(own, 'src') && path !== join(own, 'install'),
    });
  }
};
