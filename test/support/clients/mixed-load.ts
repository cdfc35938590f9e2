import { randomBytes } from 'node:crypto';
import { put, type Requested } from '../fixtures/files.ts';
import { type Answer, call } from './client.ts';
import type { TestStack } from './start-stack.ts';

/** The projects of a mixed load: for documents and files, for emails, and for users. */
export interface MixedTarget {
  readonly secretKey: string;
  readonly mailKey: string;
  readonly publishableKey: string;
}

/** Acknowledged writes. */
export class MixedLedger {
  readonly documents: string[] = [];
  /** Document → the last acknowledged and the last sent value. */
  readonly values = new Map<string, { acknowledged: number; sent: number }>();
  /** Path → whether its file was deleted; missing while that is uncertain. */
  readonly files = new Map<string, { readonly isDeleted: boolean }>();
  readonly mails: string[] = [];
  readonly accounts: { readonly email: string; readonly password: string }[] = [];
}

const content = 'kept through everything';
const newAddress = (): string => `${randomBytes(8).toString('hex')}@example.com`;

type Ask = <Body = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<Answer<Body>>;

const writeDocument = async (ask: Ask, { documents, values }: MixedLedger): Promise<void> => {
  const made = await ask<{ _id: string }>('POST', '/api/data/notes', { value: 0 });
  if (made.status !== 201) return;
  const { _id } = made.body;
  documents.push(_id);
  const value = { acknowledged: 0, sent: 1 };
  values.set(_id, value);
  if ((await ask('PATCH', `/api/data/notes/${_id}`, { value: 1 })).status === 200) value.acknowledged = 1;
};

const writeDocuments = async (ask: Ask, { documents }: MixedLedger): Promise<void> => {
  const many = Array.from({ length: 10 }, () => ({ value: 0 }));
  const made = await ask<{ data: { ids: string[] } }>('POST', '/api/data/notes/bulk', many);
  if (made.status === 201) documents.push(...made.body.data.ids);
};

const upload = async (ask: Ask, { files }: MixedLedger, thenDelete: boolean): Promise<void> => {
  const size = content.length;
  const asked = { filename: 'a.txt', contentType: 'text/plain', size };
  const { status, body } = await ask<Requested>('POST', '/api/storage/upload-request', asked);
  if (status !== 200 || (await put(body.signedUrl, content)) !== 200) return;
  const { filePath } = body;
  if ((await ask('POST', '/api/storage/upload-confirm', { filePath, size })).status !== 200) return;
  files.set(filePath, { isDeleted: false });
  if (!thenDelete) return;
  files.delete(filePath);
  if ((await ask('DELETE', '/api/storage/file', { path: filePath })).status === 200) {
    files.set(filePath, { isDeleted: true });
  }
};

const sendMail = async (ask: Ask, { mails }: MixedLedger): Promise<void> => {
  const mail = { to: newAddress(), subject: 'Hello', text: 'Hi' };
  const { status, body } = await ask<{ data: { id: string } }>('POST', '/api/mail/send', mail);
  if (status === 200) mails.push(body.data.id);
};

const sendBatch = async (ask: Ask): Promise<void> => {
  const batch = Array.from({ length: 3 }, () => ({ to: newAddress(), subject: 'Hello', text: 'Hi' }));
  await ask('POST', '/api/mail/send-batch', batch);
};

const signUp = async (ask: Ask, { accounts }: MixedLedger): Promise<void> => {
  const account = { email: newAddress(), password: randomBytes(9).toString('hex') };
  if ((await ask('POST', '/api/userAuth/signup', account)).status === 201) accounts.push(account);
};

/** Sends all kinds of requests concurrently until the service stops responding. */
export const loadUntilGone = async (
  { baseUrl }: TestStack,
  { secretKey, mailKey, publishableKey }: MixedTarget,
  ledger: MixedLedger,
): Promise<void> => {
  const askWith =
    (key: string): Ask =>
    (method, path, body) =>
      call(baseUrl, method, path, { key, body });
  const [owner, mailer, visitor] = [askWith(secretKey), askWith(mailKey), askWith(publishableKey)];
  let turn = 0;
  const work: readonly (() => Promise<void>)[] = [
    () => writeDocument(owner, ledger),
    () => writeDocument(owner, ledger),
    () => writeDocuments(owner, ledger),
    () => upload(owner, ledger, turn++ % 2 === 0),
    () => upload(owner, ledger, turn++ % 2 === 0),
    () => sendMail(mailer, ledger),
    () => sendBatch(mailer),
    () => signUp(visitor, ledger),
  ];
  const repeat = async (act: () => Promise<void>): Promise<void> => {
    for (;;) await act();
  };
  for (const end of await Promise.allSettled(work.map(repeat))) {
    // `fetch` throws this if nobody listens or the response breaks off.
    const isGone = end.status === 'rejected' && (end.reason instanceof TypeError || end.reason instanceof SyntaxError);
    if (end.status === 'rejected' && !isGone) throw end.reason;
  }
};
