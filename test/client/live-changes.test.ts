import { expect, inject, test } from 'vitest';
import { basalt } from '../../client/src/index.ts';
import { Watching } from '../support/clients/watching.ts';
import { newProject } from '../support/fixtures/project.ts';

const ids = (documents: readonly { readonly _id: string }[]): string[] => documents.map(({ _id }) => _id);

test('live shows the documents immediately and after each insert, update, deletion and recovery, newest first', async () => {
  const project = await newProject([{ name: 'posts', changes: true }]);
  const { baseUrl } = inject('stack');
  const app = basalt(baseUrl, project.publishableKey).collection('posts');
  const server = basalt(baseUrl, project.secretKey).collection('posts');
  const listed = () => Array.fromAsync(app.each({ meta: 'rev' }));
  const first = await server.insert({ n: 1 });
  const watching = new Watching(app);
  expect(ids(await watching.until(() => true))).toEqual([first._id]);
  const second = await server.insert({ n: 2 });
  expect(ids(await watching.until(({ length }) => length === 2))).toEqual([second._id, first._id]);
  await server.update(first._id, { n: 3 });
  await watching.until((documents) => documents[1]?.n === 3);
  expect(watching.latest).toEqual(await listed());
  await server.delete(second._id);
  await watching.until(({ length }) => length === 1);
  await server.recover(second._id);
  await watching.until(({ length }) => length === 2);
  await server.delete(first._id, { permanent: true });
  await watching.until(({ length }) => length === 1);
  expect(watching.latest).toEqual(await listed());
  watching.end();
});
