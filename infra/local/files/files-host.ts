import { createPublicKey } from 'node:crypto';
import { Server } from 'node:net';
import path from 'node:path';
import { startFauxqs } from 'fauxqs';
import { endWithInput, printReady } from '../helper-process.ts';
import { listen, originAt } from '../ports.ts';
import { dropTornFiles } from './drop-torn-files.ts';
import { Emulation } from './emulation.ts';
import { createGuard } from './guard.ts';
import { imageVariantsBy } from './image-variants.ts';
import { LargeFiles } from './large-files.ts';
import { createPublicOrigin } from './public-origin.ts';
import type { FilesHostOptions } from './start-files.ts';

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
