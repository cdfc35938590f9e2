export type {
  CodeProof,
  Credentials,
  EmailProof,
  FactorProof,
  Passkey,
  PasskeyOptions,
  PasskeyResponse,
  Security,
  SignedIn,
  SocialCode,
  UserSession,
} from './auth.ts';
export { type App, type Basalt, basalt, type Options } from './basalt.ts';
export { BasaltError, type FieldError } from './basalt-error.ts';
export type { BatchResult, BatchWrite, IdOf, QueuedWrite } from './batch.ts';
export type {
  Change,
  ChangeOptions,
  ChangesOptions,
  Collection,
  InsertOptions,
  Listed,
  ManyError,
  ManyResult,
  Page,
  PageWanted,
  Revised,
  UpsertOptions,
  Wanted,
  Window,
  WriteOptions,
} from './collection.ts';
export type { RequestOptions } from './connection.ts';
export type {
  FileDocument,
  FileLink,
  FilePage,
  ListedFile,
  PictureSize,
  Side,
  SignOptions,
  StoredFile,
  UploadOptions,
  Visibility,
} from './files.ts';
export type { AcceptedMail, Made, Mail, MailLog } from './mail.ts';
export type { AnyShape, Path, Populated, RefPath, Shape, SortKey } from './schema.ts';
export type { SessionStorage } from './session.ts';
