import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onControl } from '../../../../shared/persistence/mongo.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { type ImportRecord, type TransferRecord, transferKey } from '../../../../shared/transfers/transfer.ts';
import { eventually } from '../../../support/clients/eventually.ts';
import { loadObject } from '../../../support/clients/load-object.ts';
import { openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';
import { heldExport, heldImport, recordOf, runAnd } from '../../../support/fixtures/transfers.ts';
import { stored } from '../../../support/fixtures/trash.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers();
});

const lines = 3000;
const content = Array.from({ length: lines }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(200) })).join('\n');

/** Moves the project’s documents to another place, as connecting a database does, until the test ends. */
const move = async (cell: string): Promise<void> => {
  await onControl((db) =>
    db
      .collection('projects')
      .updateOne({ _id: new ObjectId(at.project.id) }, { $set: { placement: { kind: 'managed', cell } } }),
  );
};

const idOf = ({ _id }: TransferRecord) => _id.toHexString();

describe('failed when the project is in another database', () => {
  test('an import during a run; stored documents are reported', async () => {
    const collection = await at.newCollection();
    const held = await heldImport(at.project.id, collection, content);
    await runAnd(held, () => move('elsewhere'));
    await move('main');
    const record = (await recordOf(held)) as ImportRecord;
    expect(record).toMatchObject({ state: 'failed', failure: expect.stringContaining('another database') as unknown });
    expect(record.inserted).toBeLessThan(lines);
    expect(await stored(at.domain, collection)).toBe(record.inserted);
  });

  test.each([
    ['before its turn', 0],
    ['between two parts', 1],
  ])('an export %s, and leaves no file', async (_when, runs) => {
    const collection = await at.newCollection();
    await at.fill(collection, 2000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(at.project.id, collection);
    if (runs > 0) await runTransfer(idOf(held), 1);
    await move('elsewhere');
    await runTransfer(idOf(held));
    await move('main');
    expect(await recordOf(held)).toMatchObject({
      state: 'failed',
      failure: expect.stringContaining('another database') as unknown,
    });
    expect(await loadObject(transferKey(held))).toBeUndefined();
  });
});

describe('failed when the collection', () => {
  const deletion = (collection: string) =>
    at.project.developer.dashboard('DELETE', `/api/projects/${at.project.id}/collections/${collection}`);

  test('was deleted during a run', async () => {
    const collection = await at.newCollection();
    const held = await heldImport(at.project.id, collection, content);
    await runAnd(held, () => deletion(collection));
    expect(await recordOf(held)).toMatchObject({
      state: 'failed',
      failure: 'The collection was deleted in the meantime.',
    });
  });

  test.each(['import', 'export'])('was deleted and recreated before the run of the %s', async (kind) => {
    const collection = await at.newCollection();
    const held =
      kind === 'import'
        ? await heldImport(at.project.id, collection, '{"n":1}')
        : await heldExport(at.project.id, collection);
    expect(await deletion(collection)).toMatchObject({ status: 200 });
    await at.project.addCollection({ name: collection });
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({ state: 'failed' });
    expect(await stored(at.domain, collection)).toBe(0);
  });
});

test('an import follows the current schema when it is edited during a run', async () => {
  const collection = await at.newCollection();
  const held = await heldImport(at.project.id, collection, content);
  const schema = [{ key: 'title', type: 'String', required: true }];
  const edit = () =>
    at.project.developer.dashboard('PUT', `/api/projects/${at.project.id}/collections/${collection}`, {
      schema,
      force: true,
    });
  await runAnd(held, edit);
  await eventually(async () => {
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({ state: 'done' });
  });
  const { inserted, rejected, errors } = (await recordOf(held)) as ImportRecord;
  expect(inserted + rejected).toBe(lines);
  expect(rejected).toBeGreaterThan(0);
  expect(errors[0]).toMatchObject({ field: 'title', message: 'title is required' });
  expect(await stored(at.domain, collection)).toBe(inserted);
});
