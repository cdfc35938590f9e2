import { handler as listCollections } from '../../../functions/dashboard/collections/list-collections.ts';
import { handler as getProject } from '../../../functions/dashboard/projects/get-project.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { handler as listMailLogs } from '../../../functions/mail/list-mail-logs.ts';
import { handler as sendMail } from '../../../functions/mail/send-mail.ts';
import { handler as requestUpload } from '../../../functions/storage/request-upload.ts';
import { handler as getMe } from '../../../functions/user-auth/get-me.ts';
import { handler as logIn } from '../../../functions/user-auth/sign-in.ts';
import { invoke } from './invoke.ts';

/** A project with `notes`, users and its own mail provider, and its callers. */
export interface WarmProject {
  readonly id: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly credentials: { readonly email: string; readonly password: string };
  readonly userToken: string;
  readonly developerToken: string;
}

/** A running request and its expected status. */
type Asked = readonly [ReturnType<typeof invoke>, number];
type Kind = (n: number) => Asked;

const addresses = 2000;
/** One in this many requests writes more than a document, because these are slow and leave data. */
const rareEvery = 50;

const turn = (kinds: readonly Kind[], n: number): Asked => {
  const kind = kinds[n % kinds.length];
  if (!kind) throw new Error('There is no kind of request');
  return kind(n);
};

/**
 * The n-th request. They include values that a function could cache per caller: unknown keys and collections, many
 * addresses, and always new bodies, queries, files and recipients.
 */
export const kindsFor = async (project: WarmProject): Promise<Kind> => {
  const { id: projectId, secretKey: key, publishableKey, credentials, userToken, developerToken: token } = project;
  const notes = { collectionName: 'notes' };
  const made = await invoke(createDocument, { key, params: notes, body: { title: 'first' } });
  const params = { ...notes, id: String(made.body._id) };

  const usual: readonly Kind[] = [
    () => [invoke(getDocument, { key, params }), 200],
    (n) => [invoke(getDocument, { key, params, sourceIp: `198.18.${(n % addresses) >> 8}.${n & 255}` }), 200],
    (n) => [invoke(listDocuments, { key, params: notes, query: `limit=5&title=none-${n}` }), 200],
    (n) => [invoke(updateDocument, { key, params, body: { title: `title ${n}` } }), 200],
    (n) => [invoke(getDocument, { key, params: { collectionName: `unknown-${n}`, id: params.id } }), 404],
    (n) => [invoke(getDocument, { key: `sk_live_${String(n).padStart(32, '0')}`, params }), 401],
    (n) => [invoke(getDocument, { key, params: { ...notes, id: `no id ${n}` } }), 400],
    (n) => [invoke(listDocuments, { key, params: notes, query: `limit=5&sort=field${n}` }), 200],
    () => [invoke(getMe, { key: publishableKey, token: userToken }), 200],
    (n) => [invoke(getMe, { key: publishableKey, token: `${userToken}${n}` }), 401],
    () => [invoke(getProject, { token, params: { projectId } }), 200],
    () => [invoke(listCollections, { token, params: { projectId } }), 200],
  ];
  const logInAs = (email: string) =>
    invoke(logIn, { method: 'POST', key: publishableKey, body: { ...credentials, email } });
  const fileOf = (n: number) => ({ filename: `${n}.txt`, contentType: 'text/plain', size: 1 });
  const mailOf = (n: number) => ({ to: `reader-${n}@example.com`, subject: `Number ${n}`, text: 'Hello' });
  // The plan allows 1000 emails.
  const rare: readonly Kind[] = [
    () => [logInAs(credentials.email), 200],
    (n) => [invoke(requestUpload, { key, body: fileOf(n) }), 200],
    (n) => [logInAs(`nobody-${n}@example.com`), 401],
    (n) => [invoke(sendMail, { method: 'POST', key, body: mailOf(n) }), 200],
    () => [logInAs(credentials.email), 200],
    (n) => [invoke(requestUpload, { key, body: fileOf(n) }), 200],
    (n) => [logInAs(`nobody-${n}@example.com`), 401],
    () => [invoke(listMailLogs, { key }), 200],
  ];
  return (n) => (n % rareEvery === 0 ? turn(rare, n / rareEvery) : turn(usual, n));
};
