import { randomInt } from 'node:crypto';
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { ObjectId } from 'mongodb';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { clock } from '../../shared/core/clock.ts';
import { AppError } from '../../shared/core/errors.ts';
import { sweepUploads } from '../../shared/files/cleanup.ts';
import { confirmUpload } from '../../shared/files/confirm-upload.ts';
import { deleteFile } from '../../shared/files/delete-files.ts';
import { onCustomerBucket } from '../../shared/files/external-bucket.ts';
import {
  developerAccess,
  type FileItem,
  fileKey,
  filePathOf,
  filePrefix,
  type UploadItem,
} from '../../shared/files/file-items.ts';
import { makeVariant } from '../../shared/files/images/make.ts';
import { variantObjectKey } from '../../shared/files/images/store.ts';
import { cachedOf } from '../../shared/files/images/variant-items.ts';
import { sides } from '../../shared/files/images/variant-url.ts';
import { storageUsage } from '../../shared/files/list-files.ts';
import { changeVisibility } from '../../shared/files/move-file.ts';
import { requestParts, requestUpload } from '../../shared/files/request-upload.ts';
import { storageIdOf } from '../../shared/files/storage-keys.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { onControl } from '../../shared/persistence/mongo.ts';
import { onFiles } from '../../shared/persistence/s3.ts';
import { list } from '../../shared/persistence/table.ts';
import type { Project } from '../../shared/projects/project.ts';
import { type OtherStorage, placeFor, startOtherStorage } from '../support/clients/other-storage.ts';
import { killAfter } from '../support/faults/killed.ts';
import { put } from '../support/fixtures/files.ts';
import { useOwnTable } from '../support/fixtures/own-table.ts';
import { newProject } from '../support/fixtures/project.ts';
import { storageProject } from '../support/fixtures/storage-project.ts';

const uploads = 500;
const hour = 3600 * 1000;

let storage: OtherStorage;
let pictures: readonly Buffer[];
let passedMs = 0;

/** Moves the clock ahead, so that leases and locks of killed runs expire. */
const pass = (ms: number): void => {
  passedMs += ms;
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + passedMs);
};

beforeAll(async () => {
  await useOwnTable();
  storage = await startOtherStorage();
  const drawn = Array.from({ length: 9 }, (_, at) => ({
    width: 80 + 40 * at,
    height: 60,
    channels: 3,
    background: '#c33',
  }));
  pictures = await Promise.all(
    drawn.map((create) =>
      sharp({ create: { ...create, channels: 3 } })
        .png()
        .toBuffer(),
    ),
  );
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => storage.stop());

/** A path and its last known state. `unsure`: a run died that may have changed it. */
interface Known {
  readonly filePath: string;
  readonly size: number;
  told: 'there' | 'gone' | 'unsure';
}

/** Returns the keys and sizes of a project’s objects in its storage. */
const objectsOf = async ({ id, storage: place }: Project): Promise<ReadonlyMap<string, number>> => {
  const found = new Map<string, number>();
  const collect = async (client: S3Client, Bucket: string): Promise<void> => {
    for (const folder of ['files', 'private', 'pending']) {
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix: `${folder}/${id}/`, ContinuationToken }),
        );
        for (const { Key = '', Size = 0 } of page.Contents ?? []) found.set(Key, Size);
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    }
  };
  await (place.kind === 'managed' ? onFiles(collect) : onCustomerBucket(place, storage.keys)(collect));
  return found;
};

/** Returns the confirmed files and the bytes of upload requests in the table. */
const itemsOf = async (project: Project) => {
  const items = await list<FileItem & UploadItem>({ partition: projectScope(project.id) });
  const files = items.filter(({ sk }) => sk.startsWith('file#'));
  const requested = items.filter(({ sk }) => sk.startsWith('upload#'));
  const sum = (some: readonly { readonly bytes: number }[]): number => some.reduce((all, { bytes }) => all + bytes, 0);
  return { files, used: sum(files), requested: sum(requested) };
};

const expectCounted = async (project: Project, why: string): Promise<void> => {
  const { files, used, requested } = await itemsOf(project);
  const usage = await storageUsage(project);
  expect(usage, why).toMatchObject({ used, held: used + requested, files: files.length });
};

const requested = async (project: Project, known: Known[]): Promise<Known> => {
  const picture = randomInt(3) > 0 ? pictures[randomInt(pictures.length)] : undefined;
  const bytes = picture ?? Buffer.alloc(randomInt(1, 3000), 'a');
  const size = bytes.length;
  const visibility = randomInt(3) === 0 ? 'private' : 'public';
  const upload = { filename: 'a.txt', contentType: 'text/plain', size, visibility } as const;
  const { signedUrl, filePath } = await requestUpload(project, upload);
  const path: Known = { filePath, size, told: 'unsure' };
  known.push(path);
  const inParts = project.storage.kind === 'external' && randomInt(2) === 0;
  const [part] = inParts ? (await requestParts(project, developerAccess, { filePath })).parts : [];
  await put(part?.signedUrl ?? signedUrl, bytes);
  return path;
};

let sizesMade = 0;

/** Makes two sizes of an image concurrently. Other files get no sizes. */
const makeSizes = async ({ storage: { kind } }: Project, { filePath }: Known): Promise<void> => {
  if (kind !== 'managed') return;
  const [readers, folder] = randomInt(4) === 0 ? ['private', '/private/'] : ['public', '/'];
  const names = ['w64', `w${sides[randomInt(1, 4)]}`];
  const made = await Promise.all(names.map((name) => makeVariant(`${folder}${filePath}/${name}`, readers)));
  sizesMade += made.filter(({ isKept }) => isKept).length;
};

/** Confirms, deletes or moves a file, or makes sizes. The earlier state must hold, and the new state is recorded. */
const acts: readonly ((project: Project, path: Known) => Promise<void>)[] = [
  async (project, path) => {
    const before = path.told;
    await confirmUpload(project, path.filePath, path.size);
    expect(before).not.toBe('gone');
    path.told = 'there';
  },
  async (project, path) => {
    const before = path.told;
    path.told = 'unsure';
    await deleteFile(project, path.filePath);
    expect(before).not.toBe('gone');
    path.told = 'gone';
  },
  async (project, path) => {
    await changeVisibility(project, path.filePath, randomInt(2) === 0 ? 'private' : 'public');
    expect(path.told).not.toBe('gone');
  },
  makeSizes,
];

const codeOf = (error: unknown): string => (error instanceof AppError ? error.code : String(error));

/**
 * Uploads a file and may change another known file. With `dies`, the process ends at a random step and its errors are
 * ignored.
 */
const step = async (project: Project, known: Known[], dies: boolean): Promise<void> => {
  const before = new Map(known.map((path) => [path, path.told]));
  try {
    const path = await requested(project, known);
    if (randomInt(10) > 0) await acts[0]?.(project, path);
    const other = known[randomInt(known.length)];
    if (other && randomInt(2) === 0) await acts[randomInt(acts.length)]?.(project, other);
    if (randomInt(2) === 0) await makeSizes(project, path);
  } catch (error) {
    if (dies) return;
    const code = codeOf(error);
    expect(['FILE_NOT_FOUND', 'UPLOAD_NOT_READY', 'TOO_MANY_WRITERS', 'NOT_AN_IMAGE']).toContain(code);
    // A stored file can always be deleted. A failed deletion leaves its state unsure.
    for (const [path, told] of before)
      if (path.told === 'unsure' && told === 'there') expect(code).not.toBe('FILE_NOT_FOUND');
  }
};

test(`quota and storage are exact to the byte after ${uploads} random uploads, sizes, deletions and moves whose processes die`, async () => {
  const ours = { ...storageProject('pro'), id: (await newProject()).id };
  const { id } = await newProject();
  const place = await placeFor(id, storage, storage.publicHost);
  await onControl((db) => db.collection('projects').updateOne({ _id: new ObjectId(id) }, { $set: { storage: place } }));
  const projects: readonly Project[] = [ours, { ...ours, id, storage: place }];
  const known = projects.map((): Known[] => []);
  const each = (act: (project: Project, paths: Known[]) => Promise<unknown>) =>
    Promise.all(projects.map((project, at) => act(project, known[at] ?? [])));

  let died = 0;
  for (let count = 0; count < uploads / projects.length; count++) {
    pass(2000);
    const killed = count % 3 === 0 ? killAfter(randomInt(14)) : undefined;
    await each((project, paths) => step(project, paths, killed !== undefined));
    if (killed?.hit() !== undefined) died++;
    vi.restoreAllMocks();
    pass(0);
    if (count % 25 === 0) await each((project) => expectCounted(project, `after ${count}`));
  }
  expect(died).toBeGreaterThan(uploads / projects.length / 10);
  expect(sizesMade).toBeGreaterThan(uploads / 25);

  // Runs cleanups until nothing is due. Moves are cleaned up a week later, when their signed links have expired.
  for (const hours of [25, 1, 2, 24, 150, 1, 2, 4]) {
    pass(hours * hour);
    killAfter(randomInt(30));
    await sweepUploads().catch(() => undefined);
    vi.restoreAllMocks();
    pass(0);
    await sweepUploads();
  }
  // By now the leases of the last killed runs have expired.
  for (const hours of [1, 25, 200]) {
    pass(hours * hour);
    await sweepUploads();
  }
  await each(async (project, paths) => {
    await expectCounted(project, 'at the end');
    const { files, requested: waiting } = await itemsOf(project);
    expect(waiting).toBe(0);
    const storageId = storageIdOf(project.storage);
    const objects = await objectsOf(project);
    const places = files.flatMap((file) => {
      const [path, visibility] = [
        filePathOf(project.id, filePrefix(storageId), file),
        file.visibility ?? 'public',
      ] as const;
      const key = fileKey(path, visibility);
      expect(objects.get(key), key).toBe(file.bytes);
      const sizes = [...(file.sizes ?? [])].map((name) => variantObjectKey(path, visibility, name));
      expect(
        sizes.reduce((all, one) => all + (objects.get(one) ?? Number.NaN), 0),
        key,
      ).toBe(cachedOf(file).reduce((all, one) => all + one.bytes, 0));
      return [key, ...sizes];
    });
    expect([...objects.keys()].sort()).toEqual(places.sort());
    const stored = new Set(files.map((file) => filePathOf(project.id, filePrefix(storageId), file)));
    const wrong = paths.filter(
      ({ filePath, told }) => told !== 'unsure' && stored.has(filePath) !== (told === 'there'),
    );
    expect(wrong).toEqual([]);
    expect(stored.size).toBeGreaterThan(uploads / projects.length / 4);
  });
});
