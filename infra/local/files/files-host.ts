import { createPublicKey } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { Server } from 'node:net';
import path from 'node:path';
import { startFauxqs } from 'fauxqs';
import { endWithInput, printReady } from '../helper-process.ts';
import { listen, originAt } from '../ports.ts';
import { Emulation } from './emulation.ts';
import { createGuard } from './guard.ts';
import { LargeFiles } from './large-files.ts';
import { createPublicOrigin, imageVariantsBy } from './public-origin.ts';
import type { FilesHostOptions } from './start-files.ts';

const descriptionEnding = '.meta.json';

const isComplete = async (description: string, content: string): Promise<boolean> => {
  try {
    const { contentLength } = JSON.parse(await readFile(description, 'utf8')) as { readonly contentLength: unknown };
    return (await stat(content)).size === contentLength;
  } catch {
    return false;
  }
};

const isJson = async (file: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
};

/** Removes multipart uploads, and parts, whose description is incomplete. */
const dropTornParts = async (directory: string): Promise<void> => {
  const folder = path.join(directory, '_multipart');
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    if (await isJson(path.join(folder, name))) continue;
    await rm(path.join(folder, name.endsWith('.upload.json') ? path.dirname(name) : name), {
      recursive: true,
      force: true,
    });
  }
};

/**
 * Removes objects that were only partly written when the process was killed. No client got a success response for them,
 * and fauxqs would not start with them.
 */
const dropTornFiles = async (directory: string): Promise<void> => {
  await dropTornParts(directory);
  const names = await readdir(path.join(directory, 'buckets'), { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith(descriptionEnding))) {
    const description = path.join(directory, 'buckets', name);
    const content = `${description.slice(0, -descriptionEnding.length)}.data`;
    if (!(await isComplete(description, content))) {
      await Promise.all([rm(description, { force: true }), rm(content, { force: true })]);
    }
  }
};

// Runs S3 and the origin of public files: files-host.ts OPTIONS DIRECTORY, with the options as JSON.
const [json = '', directory = ''] = process.argv.slice(2);
const { bucket, publicFolder, s3Port, publicPort, region, keys, linkKeys, variants } = JSON.parse(
  json,
) as FilesHostOptions;

/** fauxqs listens on all network interfaces; this makes every server of the process listen on loopback instead. */
const listenOnLoopback = (): void => {
  const listenAnywhere = Server.prototype.listen;
  Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
    const [first, ...rest] = args;
    const isOptions = typeof first === 'object' && first !== null && 'port' in first;
    const local = isOptions
      ? [{ ...first, host: '127.0.0.1' }, ...rest]
      : typeof first === 'number'
        ? [first, '127.0.0.1', ...rest.filter((argument) => typeof argument !== 'string')]
        : args;
    return Reflect.apply(listenAnywhere, this, local);
  };
};

endWithInput();
listenOnLoopback();
await dropTornFiles(directory);
const { port } = await startFauxqs({ port: 0, logger: false, defaultRegion: region, s3StorageDir: directory });
const large = await LargeFiles.open(directory);
const emulation = new Emulation(port, large);
await emulation.createBucket(bucket);
await listen(createGuard({ emulation, large, keys, region, directory }), s3Port);
const links = linkKeys && {
  origin: originAt(publicPort),
  keys: new Map(Object.entries(linkKeys).map(([id, pem]) => [id, createPublicKey(pem)])),
};
const root = path.posix.join('/', bucket, publicFolder);
await listen(createPublicOrigin(emulation, root, links, variants && imageVariantsBy(variants)), publicPort);
printReady();
