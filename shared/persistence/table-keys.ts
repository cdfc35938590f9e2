// All kinds of items in the DynamoDB table. No other file spells a key; item-keys.ts fills in `{…}`.
// DynamoDB deletes an item some time after `expiresAt`, so readers compare `expiresAt` with the clock.

/** Partition keys. Counters of an owner or of the service outlive projects and accounts. */
export const partitions = {
  project: 'p#{projectId}',
  developers: 'd#developers',
  owner: 'o#{ownerKey}',
  service: 'service',
  rate: 'rate#{source}',
  lock: 'lock#{hash}',
  stats: 'stats#{projectId}',
  due: 'due#uploads#{day}#{shard}',
  dueExternal: 'due#uploads#external#{day}#{shard}',
  dueDone: 'due#uploads#done',
} as const;

export type PartitionName = keyof typeof partitions;

/** A kind of item. Each is a separate constant, so that a bundle contains only the kinds it uses. */
export interface Kind {
  /** The partitions that have such items. */
  readonly in: readonly PartitionName[];
  /** Sort key. */
  readonly sk: string;
  /** The only part of `shared/` that reads and writes it. */
  readonly by: string;
}

/** Users and developers have the same kinds. */
const accounts = ['project', 'developers'] as const;

/** A session, which every refresh needs, with the client's address and browser. Expires 7 days after a refresh. */
export const session = { in: accounts, sk: 'session#{userId}#{sessionId}', by: 'accounts' } as const;
/** A code that a social sign-in exchanges for the refresh token sealed in it. Expires after 60 seconds. */
export const exchangeCode = { in: accounts, sk: 'rtcode#{hash}', by: 'accounts' } as const;
/** Hashes of the link and code in the latest email to an address, and attempts at the code, by place. Expires in a day, an hour (reset, change) or 10 minutes (code). */
export const emailToken = { in: accounts, sk: 'email#{kind}#{addressKey}', by: 'accounts' } as const;
/** Number of change-of-address emails to one address in an hour. Expires a day after it. */
export const changeMails = { in: accounts, sk: 'change-mails#{addressKey}#{hour}', by: 'accounts' } as const;
/** A refresh token, used or not. Expires after 7 days. */
export const refreshToken = { in: accounts, sk: 'refresh#{hash}', by: 'accounts' } as const;
/** The oldest version of credentials that can still open a session. Expires two minutes after a change. */
export const minCredentialVersion = { in: accounts, sk: 'gate#{userId}', by: 'accounts' } as const;
/** A social sign-in that has begun. Expires after 10 minutes. */
export const signInState = { in: accounts, sk: 'state#{hash}', by: 'accounts' } as const;
/** A sign-in that waits for its second factor, and the number of attempts. Expires after 5 minutes. */
export const ticket = { in: accounts, sk: 'ticket#{hash}', by: 'accounts' } as const;
/** The challenge that a passkey must sign, for a sign-in or when a user adds it. Expires after 5 minutes. */
export const challenge = { in: accounts, sk: 'challenge#{hash}', by: 'accounts' } as const;
/** Failed and running sign-ins for an address, by place and in total. For an account: wrong passwords in its sessions, and wrong second factors. Expires with its window. */
export const lockout = { in: ['lock'], sk: 'failures', by: 'accounts' } as const;

/** An upload that was requested. Stays until it is confirmed, ended or swept. */
export const upload = { in: ['project'], sk: 'upload#{storageId}#{path}', by: 'files' } as const;
/** A confirmed file. Stays until the file is deleted. */
export const file = { in: ['project'], sk: 'file#{storageId}#{path}', by: 'files' } as const;
/** Marks a confirmed file as a user's, for the user's list. Stays until the file is deleted. */
export const userFile = { in: ['project'], sk: 'own-file#{storageId}#{userId}#{path}', by: 'files' } as const;
/** Marks a confirmed file as a document's, for the document's list and deletion. Stays until the file is deleted. */
export const documentFile = { in: ['project'], sk: 'of#{storageId}#{collection}#{id}#{path}', by: 'files' } as const;
/** Reserved and used bytes of a storage, and its number of files. Stays until the project is removed. */
export const storageQuota = { in: ['project'], sk: 'quota#storage#{storageId}', by: 'files' } as const;
/** Bytes and files that a user has reserved and used in a storage, and the number of open reservations. Stays until the project is removed. */
export const userQuota = { in: ['project'], sk: 'quota#user#{storageId}#{userId}', by: 'files' } as const;
/** A stored image size, ordered by creation. Stays until it is evicted, or its file is deleted. */
export const variant = { in: ['project'], sk: 'variant#{time}#{path}#{name}', by: 'files' } as const;
/** Bytes of the stored image sizes. Stays until the project is removed. */
export const variantQuota = { in: ['project'], sk: 'quota#variants', by: 'files' } as const;
/** A path that the upload sweep checks when it is due. Stays until the sweep removes it. */
export const dueUpload = { in: ['due', 'dueExternal'], sk: '{time}#{move}#{filePath}', by: 'files' } as const;
/** The time up to which the sweep has finished, for each of its queues. Stays. */
export const sweptUntil = { in: ['dueDone'], sk: '{queue}', by: 'files' } as const;

/** Invitations that a user has sent in a day. Expires a day after the day. */
export const userInvitations = { in: ['project'], sk: 'invitations#{userId}#{day}', by: 'accounts' } as const;
/** Anonymous accounts that an address created in an hour. Expires a day after the hour. */
export const anonymousAccounts = { in: ['rate'], sk: 'anonymous#{hour}', by: 'accounts' } as const;

/** Emails of a month, entries of their log, and emails whose slot may be returned. Expires 400 days after the month began. */
export const mailMonth = { in: ['project'], sk: 'quota#mail#{month}', by: 'mail' } as const;
/** The latest email of an effect about a document to an address. Expires an hour after it. */
export const effectMail = { in: ['project'], sk: 'effect#{collection}#{id}#{key}#{addressKey}', by: 'mail' } as const;
/** Marks that an effect has sent an email to an address in a day. Expires a day after the day. */
export const effectMailOfDay = { in: ['project'], sk: 'effect-day#{day}#{effect}#{addressKey}', by: 'mail' } as const;
/** Emails to any address that effects sent in a day for a user, or without one. Expires a day after the day. */
export const openMails = { in: ['project'], sk: 'open-mails#{day}#{userId}', by: 'mail' } as const;
/** Log entries of a day for emails of effects that were not sent. Expires a day after the day. */
export const unsentMails = { in: ['project'], sk: 'unsent-mails#{day}', by: 'mail' } as const;
/** Emails of a month with the shared key, and their recipients. Expires a day after the month. */
export const ownerMails = { in: ['owner'], sk: 'mails#{month}', by: 'mail' } as const;
/** Account emails of a day, for all projects of an owner. Expires a day after the day. */
export const accountMails = { in: ['owner'], sk: 'account-mails#{day}', by: 'accounts' } as const;
/** A key that signs links to files: its id at CloudFront, and when it starts to sign. Stays until it is replaced. */
export const linkKey = { in: ['service'], sk: 'link-key#{period}', by: 'files' } as const;

/** Recipients of emails with the shared key in a day. Expires a day after the day. */
export const serviceRecipients = { in: ['service'], sk: 'recipients#{day}', by: 'mail' } as const;

/** An address that has just received an invitation. Expires after a minute. */
export const invited = { in: ['developers'], sk: 'invited#{addressKey}', by: 'members' } as const;
/** Invitations that a developer sent in a day. Expires a day after the day. */
export const invitations = { in: ['developers'], sk: 'invitations#{ownerKey}#{day}', by: 'members' } as const;
/** Emails to developers in a day. Expires a day after the day. */
export const serviceMails = { in: ['developers'], sk: 'service-mails#{day}', by: 'members' } as const;
/** Requests of an address, or deliveries to a project, in a window. Expires a minute after the window. */
export const rateWindow = { in: ['rate'], sk: '{start}', by: 'rate-limit' } as const;

/** The run that handles a request with an Idempotency-Key, and the stored response. Expires after 24 hours. */
export const idempotency = { in: ['project'], sk: 'idempotency#{hash}', by: 'persistence' } as const;

/** The running long list, count, search or aggregation of a project, with its latest end. Expires an hour later. */
export const longReads = { in: ['rate'], sk: 'reads', by: 'documents' } as const;

/** Requests of a day by route, status and latency. Expires after 32 days. */
export const requests = { in: ['stats'], sk: 'requests#{day}', by: 'usage' } as const;
/** Slow lists of a day by their shape. Expires after 32 days. */
export const queries = { in: ['stats'], sk: 'queries#{day}', by: 'usage' } as const;
/** A rejected request; the newest replaces the oldest of a thousand. Expires after 7 days. */
export const rejected = { in: ['stats'], sk: 'refusal#{slot}', by: 'usage' } as const;
/** Number of rejected requests in a second. Expires after 7 days. */
export const rejectedPerSecond = { in: ['stats'], sk: 'refused#{second}', by: 'usage' } as const;
/** Numbers of rejected requests that were kept, and that were not. Expires 7 days after the last one. */
export const rejectedTotal = { in: ['stats'], sk: 'refused-total', by: 'usage' } as const;
/** Proposals of the assistant in a month. Expires a day after the month. */
export const proposals = { in: ['owner'], sk: 'proposals#{month}', by: 'usage' } as const;
/** Empty. The health check writes it to test that the table accepts writes. Expires after an hour. */
export const health = { in: ['rate'], sk: 'health', by: 'usage' } as const;

/** Removed with a project's users. Sessions come first, because a refresh needs one. */
export const ofUsers = [session, exchangeCode, emailToken, refreshToken, ticket] as const;
