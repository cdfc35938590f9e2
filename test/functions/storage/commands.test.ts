import { beforeAll, describe, expect, test } from 'vitest';
import { handler as confirmUpload } from '../../../functions/storage/confirm-upload.ts';
import { handler as deleteFile } from '../../../functions/storage/delete-file.ts';
import { handler as requestUpload } from '../../../functions/storage/request-upload.ts';
import { commandsOf, listenToCommands } from '../../../infra/local/command-notes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { put, type Requested } from '../../support/fixtures/files.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const count = 'dynamodb UpdateItemCommand';
const transaction = 'dynamodb TransactWriteItemsCommand';

let project: TestProject;

const requested = async (): Promise<Requested> => {
  const body = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
  return (await invoke(requestUpload, { key: project.secretKey, body })).body as unknown as Requested;
};

const confirm = (filePath: string) => () =>
  invoke(confirmUpload, { key: project.secretKey, body: { filePath, size: 5 } });

const remove = (path: string) => () => invoke(deleteFile, { key: project.secretKey, body: { path } });

beforeAll(async () => {
  project = await newProject();
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

  test('upload-confirm and deletion with a malformed path: nothing', async () => {
    for (const act of [confirm('a/b'), remove('a/b')]) expect(await commandsOf(act)).toEqual([count]);
  });
});
