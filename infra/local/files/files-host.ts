import { createPublicKey } from 'node:crypto';
import path from 'node:path';
import { startFauxqs } from 'fauxqs';
import { listen, originAt } from '../ports.ts';
import { dropTornFiles } from './drop-torn-files.ts';
import { Emulation } from './emulation.ts';
import { createGuard } from './guard.ts';
import { LargeFiles } from './large-files.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { createPublicOrigin } from './public-origin.ts';
import { sizesBy } from './sizes.ts';
import type { FilesHostOptions } from './start-files.ts';

// Runs S3 and the origin of public files in a process of its own: files-host.ts OPTIONS DIRECTORY, the options as JSON.
// Prints "up"; ends with its standard input.
const [json = '', directory = ''] = process.argv.slice(2);
const { bucket, publicFolder, s3Port, publicPort, region, keys, linkKeys, sizes } = JSON.parse(
  json,
) as FilesHostOptions;

for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
process.stdin.resume();

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
await listen(createPublicOrigin(emulation, root, links, sizes && sizesBy(sizes)), publicPort);
process.stdout.write('up\n');
