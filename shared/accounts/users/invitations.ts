import { ObjectId } from 'mongodb';
import { type Collection, hasRules, ownerFieldOf, systemFields } from '../../collections/collection.ts';
import { collectionNotFound } from '../../collections/collection-record.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { isCollectionName, isUsersName, usersCollection } from '../../collections/names.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { clock, dayAt, dayMs } from '../../core/clock.ts';
import { AppError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { tryOrLog } from '../../core/log.ts';
import { idOf } from '../../core/values.ts';
import { type AccessContext, notOwner, obeysRules } from '../../documents/access/access.ts';
import { fieldProtected, requireInsertRights } from '../../documents/access/field-rights.ts';
import { knowUser } from '../../documents/access/rules-of.ts';
import { requireCreateWithout } from '../../documents/access/writing.ts';
import type { JsonObject } from '../../documents/document.ts';
import { requireInsertAccess } from '../../documents/store/insert.ts';
import { madeOf } from '../../documents/store/new-document.ts';
import { requireReferences } from '../../documents/store/references.ts';
import { plainName } from '../../mail/content.ts';
import { refund, reserveOne } from '../../persistence/counters.ts';
import { itemKey, projectScope } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { open, seal } from '../../projects/sealed.ts';
import { queueAccountMail } from '../account-mail.ts';
import { requireAccount } from '../account-store.ts';
import { linkTo } from '../email-proofs.ts';
import { checkEmail } from '../email-tokens.ts';
import { requireSession } from '../sessions.ts';
import { randomSecret, sha256 } from '../single-use-secrets.ts';
import type { Bearer } from '../tokens.ts';
import { type UserInvitationRecord, userInvitationRecords } from './invitation-records.ts';
import { type UserRecord, userAccounts } from './users.ts';

const invitationDays = 7;
const maxPerDay = 20;
const maxInviterLength = 64;

interface NewInvitation {
  readonly email: string;
  readonly document: { readonly collection: string; readonly fields: JsonObject };
  readonly userField?: string | undefined;
}

/** The same error for every invitation that cannot be accepted or withdrawn. */
export const invitationNotFound = (): AppError =>
  new AppError(
    'INVITATION_NOT_FOUND',
    'Invitation not found for you. It was used or withdrawn, has expired, or is for another email address. Ask for a new one.',
  );

export const collectionNamed = async (project: Project, name: string): Promise<Collection> => {
  if (isUsersName(name))
    throw new AppError('USERS_RESERVED', 'An invitation cannot create a user. Name another collection.');
  const found = isCollectionName(name) ? (await findCollections(project, [name])).get(name) : undefined;
  if (!found) throw collectionNotFound(name);
  return found;
};

const invalid = (field: string, reason: string): AppError => validationFailed({ field, message: `${field} ${reason}` });

/** The field that receives the user who accepts. Throws 400 `VALIDATION_FAILED`, 403 `NOT_OWNER`. */
export const receivingField = (collection: Collection, given: string | undefined): string => {
  const owner = ownerFieldOf(collection.rls);
  const field = given ?? owner;
  if (field === undefined) {
    throw invalid('userField', `is required, because the collection "${collection.name}" has no owner field`);
  }
  const at = field.includes('.') || systemFields.has(field) ? undefined : typeAt(collection, field);
  if (at?.type !== 'String' && !(at?.type === 'Ref' && at.ref === usersCollection)) {
    throw invalid('userField', 'must name a String, or a Ref to users, of the schema');
  }
  if (field === owner && !hasRules(collection.rls)) throw notOwner();
  return field;
};

/** Throws 400 `VALIDATION_FAILED` for fields that the service sets. */
export const requireFree = (collection: Collection, fields: JsonObject, userField: string): void => {
  const reserved = new Set<string | undefined>([...systemFields, userField, ownerFieldOf(collection.rls)]);
  const name = Object.keys(fields).find((key) => reserved.has(key.split('.', 1)[0]));
  if (name !== undefined) throw invalid(`document.fields.${name}`, 'is set by the service. Leave it out');
};

/** The body of the document, and its owner if that is the user who accepts. Otherwise the inviter owns it. */
export const invitedBody = (collection: Collection, fields: JsonObject, userField: string, userId: string) =>
  userField === ownerFieldOf(collection.rls)
    ? { body: fields, owner: userId }
    : { body: { ...fields, [userField]: userId }, owner: undefined };

/** The inviter as the caller of the insert. Rules use this record. */
export const contextOf = (
  project: Project,
  collection: Collection,
  inviter: UserRecord,
  mfa: boolean,
): AccessContext => {
  const caller: Caller = { kind: 'publishable', userId: inviter._id.toHexString(), ...(mfa && { mfa: true }) };
  knowUser(caller, { ...inviter });
  return { project, collection, caller };
};

/** Throws unless the inviter could create the document if only the user who accepts were known. */
const requireInviting = async (context: AccessContext, fields: JsonObject, userField: string): Promise<void> => {
  const { collection, caller } = context;
  await requireInsertAccess(context);
  // Any id serves as an example, because the field is left out of what is checked.
  const { body, owner } = invitedBody(collection, fields, userField, caller.userId ?? '');
  const { document } = await madeOf(context, body, newId(), owner);
  const { [userField]: _unknown, ...known } = document;
  const isServers = rightsOf(collection).written.some(({ path, write }) => path === userField && write === 'server');
  if (isServers) throw fieldProtected([userField]);
  await requireInsertRights(context, fields, known);
  if (obeysRules(context)) await requireCreateWithout(context, known, userField);
  await requireReferences(context, known);
};

const requireVerified = ({ email, emailVerified }: UserRecord): void => {
  if (email !== undefined && emailVerified === true) return;
  throw new AppError('EMAIL_NOT_VERIFIED', 'Verify your email address before you invite others.');
};

const requireSite = ({ siteUrl }: { readonly siteUrl: string | null }): string => {
  if (siteUrl !== null) return siteUrl;
  throw new AppError(
    'SITE_URL_REQUIRED',
    "Invitations lead to pages of your site. Set siteUrl; without a mail key of your own, verify the address of the project's owner too.",
  );
};

/** The name that others may read, without anything that mail programs turn into a link. */
const nameOf = (users: Collection, inviter: UserRecord): string => {
  const { name } = { name: undefined, ...inviter } as { readonly name: unknown };
  const isHidden = rightsOf(users).read.some(({ segments }) => segments[0] === 'name');
  return (!isHidden && typeof name === 'string' && plainName(name, maxInviterLength)) || 'Someone';
};

const countInvitation = (project: Project, userId: string) => {
  const today = dayAt(clock.now());
  const key = itemKey(kinds.userInvitations, projectScope(project.id), { userId, day: today.name });
  const message = `You have sent ${maxPerDay} invitations today. Send others tomorrow (UTC).`;
  return reserveOne(today, key, { name: 'sent', limit: maxPerDay }, message);
};

/**
 * Emails a single-use token that creates a document. It looks up no account of the address, so neither response nor time
 * reveals one. Errors: 403 `EMAIL_NOT_VERIFIED`, 400 `SITE_URL_REQUIRED`, those of an insert, 429 `RATE_LIMITED`.
 */
export const sendUserInvitation = async (
  project: Project,
  users: Collection,
  { userId, sessionId, amr }: Bearer,
  { email, document, userField: given }: NewInvitation,
): Promise<Pick<UserInvitationRecord, '_id' | 'expiresAt'>> => {
  const store = userAccounts(project);
  const address = checkEmail(email);
  await requireSession(store.scope, userId, sessionId);
  const inviter = await requireAccount(store, userId);
  requireVerified(inviter);
  const origin = store.mailOrigin();
  const siteUrl = requireSite(origin);
  const { fields } = document;
  const collection = await collectionNamed(project, document.collection);
  const userField = receivingField(collection, given);
  requireFree(collection, fields, userField);
  const mfa = amr?.includes('mfa') === true;
  await requireInviting(contextOf(project, collection, inviter, mfa), fields, userField);
  const counted = await countInvitation(project, userId);
  const [_id, token] = [newId(), randomSecret()];
  const invitation: UserInvitationRecord = {
    _id,
    projectId: new ObjectId(project.id),
    inviterId: inviter._id,
    ...(mfa && { mfa }),
    email: address,
    tokenHash: sha256(token),
    collection: collection.name,
    userField,
    sealedFields: await seal(JSON.stringify(fields), _id.toHexString()),
    documentId: newId(),
    expiresAt: new Date(clock.now() + invitationDays * dayMs),
  };
  await userInvitationRecords.insertOne(invitation);
  const link = linkTo(siteUrl, 'invitations/accept', token);
  const variables = { link, inviter: nameOf(users, inviter), days: String(invitationDays) };
  try {
    await queueAccountMail(origin, { template: 'invitation', to: address, variables });
  } catch (error) {
    await tryOrLog('warn', { message: 'An invitation that was not sent stays' }, async () => {
      await userInvitationRecords.deleteOne({ _id });
      await refund(counted);
    });
    throw error;
  }
  return { _id, expiresAt: invitation.expiresAt };
};

export const openFields = async ({ _id, sealedFields }: UserInvitationRecord): Promise<JsonObject> =>
  JSON.parse(await open(sealedFields, _id.toHexString()));

/** The user's own pending invitations, newest first. The limit per day bounds them. */
export const listUserInvitations = async (project: Project, { userId }: Bearer) => {
  const records = await userInvitationRecords.find(
    {
      projectId: new ObjectId(project.id),
      inviterId: new ObjectId(userId),
      expiresAt: { $gt: new Date(clock.now()) },
    },
    { sort: { _id: -1 } },
  );
  return Promise.all(
    records.map(async (record) => ({
      _id: record._id.toHexString(),
      email: record.email,
      document: { collection: record.collection, fields: await openFields(record) },
      expiresAt: record.expiresAt,
    })),
  );
};

/** Withdraws an invitation of the user. Throws 404 `INVITATION_NOT_FOUND`. */
export const deleteUserInvitation = async (project: Project, { userId }: Bearer, id: string): Promise<void> => {
  const _id = idOf(id);
  const own = { projectId: new ObjectId(project.id), inviterId: new ObjectId(userId) };
  const isGone = !_id || (await userInvitationRecords.deleteOne({ _id, ...own })).deletedCount === 0;
  if (isGone) throw invitationNotFound();
};
