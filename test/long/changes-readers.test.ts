import { expect, test } from 'vitest';
import { inParallel } from '../support/clients/client.ts';
import { newProject } from '../support/worlds/project.ts';

const writers = 50;
const writesEach = 300;
const readers = 5;

interface Change {
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
}
interface Page {
  readonly data: { readonly changes: readonly Change[]; readonly next: string; readonly more: boolean };
}

test('50 writers at once and 5 readers: each sees the last of every document, in order and nothing twice', async () => {
  const project = await newProject([{ name: 'busy', changes: true }]);
  const last = new Map<string, Change>();
  const shared: string[] = [];
  let isWriting = true;

  const write = async (writer: number): Promise<void> => {
    const own: string[] = [];
    for (let n = 0; n < writesEach; n += 1) {
      const kind = own.length < 3 ? 0 : n % 5;
      const id = kind === 2 ? (shared[(writer * 7 + n) % shared.length] ?? '') : (own[n % own.length] ?? '');
      const path = `/api/data/busy/${id}`;
      if (kind === 0) {
        const made = await project.api<{ _id: string }>('POST', '/api/data/busy', { body: { writer, n } });
        expect(made.status).toBe(201);
        own.push(made.body._id);
        if (shared.length < 5) shared.push(made.body._id);
      } else if (kind === 4) await project.api('DELETE', `${path}${n % 2 === 0 ? '?permanent=true' : ''}`);
      else if (kind === 3) await project.api('PATCH', `${path}/recover`);
      else await project.api('PATCH', path, { body: { n } });
    }
  };

  const read = async (reader: number): Promise<ReadonlyMap<string, Change>> => {
    const seen = new Map<string, Change>();
    let since = '0';
    for (;;) {
      const wasWriting = isWriting;
      const { body } = await project.api<Page>(
        'GET',
        `/api/data/busy/changes?since=${since}&limit=${10 + reader * 50}`,
      );
      for (const change of body.data.changes) {
        expect(change.rev).toBeGreaterThan(seen.get(change._id)?.rev ?? 0);
        seen.set(change._id, change);
      }
      since = body.data.next;
      if (!wasWriting && !body.data.more && body.data.changes.length === 0) return seen;
    }
  };

  const reading = inParallel(readers, read);
  await inParallel(writers, write);
  isWriting = false;
  const seen = await reading;
  let since = '0';
  for (let more = true; more; ) {
    const { body } = await project.api<Page>('GET', `/api/data/busy/changes?since=${since}&limit=1000`);
    for (const { _id, rev, deleted } of body.data.changes) last.set(_id, { _id, rev, ...(deleted && { deleted }) });
    ({ more, next: since } = body.data);
  }
  expect(last.size).toBeGreaterThan(writers);
  for (const one of seen) {
    const brief = [...one.values()].map(({ _id, rev, deleted }) => ({ _id, rev, ...(deleted && { deleted }) }));
    expect(new Map(brief.map((change) => [change._id, change]))).toEqual(last);
  }
});
