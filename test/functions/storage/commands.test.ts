import { beforeAll, describe, expect, test } from 'vitest';
import { handler as confirmUpload } from '../../../functions/storage/confirm-upload.ts';
import { handler as deleteFile } from '../../../functions/storage/delete-file.ts';
import { handler as listFiles } from '../../../functions/storage/list-own-files.ts';
import { handler as requestUpload } from '../../../functions/storage/request-upload.ts';
import { handler as signLinks } from '../../../functions/storage/sign-links.ts';
import { clock } from '../../../shared/core/clock.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { put, type Requested } from '../../support/fixtures/files.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const count = 'dynamodb UpdateItemCommand';
const transaction = 'dynamodb TransactWriteItemsCommand';

let project: TestProject;
let id: string;

const requested = async (): Promise<Requested> => {
  const body = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
  return (await invoke(requestUpload, { key: project.secretKey, body })).body as unknown as Requested;
};

/** A confirmed file of the document. */
const attached = async (): Promise<Requested> => {
  const body = { filename: 'a.txt', contentType: 'text/plain', size: 5, of: { collection: 'notes', id } };
  const made = (await invoke(requestUpload, { key: project.secretKey, body })).body as unknown as Requested;
  expect(await put(made.signedUrl, 'hello')).toBe(200);
  expect((await confirm(made.filePath)()).status).toBe(200);
  return made;
};

const confirm = (filePath: string) => () =>
  invoke(confirmUpload, { key: project.secretKey, body: { filePath, size: 5 } });

const remove = (path: string) => () => invoke(deleteFile, { key: project.secretKey, body: { path } });

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  id = (await project.api<{ _id: string }>('POST', '/api/data/notes', { body: {} })).body._id;
  const frozen = Date.now();
  // A stopped clock keeps the project cached during the tests.
  clock.now = () => frozen;
  await requested();
});

describe('a warm request costs, in addition to the count of requests', () => {
  test('upload-request: 1 transaction and no call to the storage', async () => {
    expect(await commandsOf(requested)).toEqual([transaction, count]);
  });

  test('upload-confirm: 1 head and 1 read concurrently, 1 copy and 1 transaction', async () => {
    const { signedUrl, filePath } = await requested();
    expect(await put(signedUrl, 'hello')).toBe(200);
    const commands = await commandsOf(async () => expect((await confirm(filePath)()).status).toBe(200));
    expect(commands).toEqual([
      'dynamodb TransactGetItemsCommand',
      transaction,
      count,
      's3 CopyObjectCommand',
      's3 HeadObjectCommand',
    ]);
  });

  test('upload-confirm before the upload arrived: 1 head and 1 read', async () => {
    const { filePath } = await requested();
    const commands = await commandsOf(async () => expect((await confirm(filePath)()).status).toBe(409));
    expect(commands).toEqual(['dynamodb TransactGetItemsCommand', count, 's3 HeadObjectCommand']);
  });

  test('deletion: 1 read of the size, 1 transaction and 1 removal', async () => {
    const { signedUrl, filePath } = await requested();
    await put(signedUrl, 'hello');
    await confirm(filePath)();
    const commands = await commandsOf(async () => expect((await remove(filePath)()).status).toBe(200));
    expect(commands).toEqual(['dynamodb GetItemCommand', transaction, count, 's3 DeleteObjectsCommand']);
  });

  test('a file of a document: 1 find in each step, and 1 for links to 100 files of a document', async () => {
    const { filePath } = await attached();
    const find = 'mongodb find';
    const body = { filename: 'a.txt', contentType: 'text/plain', size: 5, of: { collection: 'notes', id } };
    const requesting = await commandsOf(() => invoke(requestUpload, { key: project.secretKey, body }));
    expect(requesting).toEqual([transaction, count, find]);
    const paths = Array.from({ length: 100 }, () => filePath);
    const signing = await commandsOf(() => invoke(signLinks, { key: project.secretKey, body: { paths } }));
    expect(signing).toEqual(['dynamodb TransactGetItemsCommand', count, find]);
    const query = `collection=notes&id=${id}`;
    const listing = await commandsOf(() => invoke(listFiles, { key: project.secretKey, query }));
    expect(listing).toEqual(['dynamodb QueryCommand', 'dynamodb TransactGetItemsCommand', count, find]);
    const deleting = await commandsOf(remove(filePath));
    expect(deleting).toEqual(['dynamodb GetItemCommand', transaction, count, find, 's3 DeleteObjectsCommand']);
  });

  test('upload-confirm and deletion with a malformed path: nothing', async () => {
    for (const act of [confirm('a/b'), remove('a/b')]) expect(await commandsOf(act)).toEqual([count]);
  });
});
