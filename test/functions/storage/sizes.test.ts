import sharp from 'sharp';
import { beforeAll, expect, test } from 'vitest';
import { variantUsage } from '../../../shared/files/images/variant-items.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { remove, uploadFile } from '../../support/fixtures/files.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

let project: TestProject;

const usage = async () => {
  const { used, held, files } = await storageUsage({ ...storageProject(), id: project.id });
  return { used, held, files };
};

/** Rotated and with a location, as a phone stores it. */
const photo = (): Promise<Buffer> =>
  sharp({ create: { width: 600, height: 900, channels: 3, background: '#c33' } })
    .withMetadata({ orientation: 6 })
    .withExifMerge({ IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
    .jpeg()
    .toBuffer();

beforeAll(async () => {
  project = await newProject([], await newDeveloper('free'));
});

test('an image is resized upright and without metadata, stored, charged once for 50 callers, and removed with its file', async () => {
  const before = await usage();
  const bytes = await photo();
  const { url, path } = await uploadFile(project, bytes, 'image/jpeg');
  const answers = await inParallel(50, (at) => fetch(`${url}?format=webp&w=320&utm=${at}`));
  expect(tally(answers)).toEqual({ 200: 50 });
  const [body = Buffer.alloc(0), ...others] = await Promise.all(
    answers.map(async (answer) => Buffer.from(await answer.arrayBuffer())),
  );
  expect(others.every((other) => other.equals(body))).toBe(true);
  const { width, height, format, exif, orientation } = await sharp(body).metadata();
  expect({ width, height, format, exif, orientation }).toEqual({ width: 320, height: 213, format: 'webp' });
  const charged = bytes.length;
  expect(await usage()).toEqual({ used: before.used + charged, held: before.held + charged, files: before.files + 1 });
  expect(await variantUsage(project.id)).toBe(body.length);
  const refused = await fetch(`${url}?w=321`);
  expect([refused.status, await refused.json()]).toMatchObject([400, { success: false, code: 'INVALID_SIZE' }]);
  expect((await remove(project, path)).status).toBe(200);
  expect(await usage()).toEqual(before);
  expect(await variantUsage(project.id)).toBe(0);
  expect((await fetch(`${url}?format=webp&w=320`)).status).toBe(404);
});
