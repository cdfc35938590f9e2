import * as v from 'valibot';
import { listOf } from '../../../shared/core/text.ts';
import { isSiteUrl } from '../../../shared/projects/allowed-origins.ts';
import { strictBody, success } from '../../schemas.ts';
import {
  askedLinks,
  atMost,
  changedPath,
  changedVisibility,
  confirmedUpload,
  requestedUpload,
  StoredFile,
  UploadRequestAnswer,
  uploaded,
  visibility,
} from '../../storage/schemas.ts';
import { project } from '../projects/schemas.ts';
import { pageOf } from '../schemas.ts';

const text = (most: number) =>
  v.pipe(
    v.string('must be a String'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(most, `must have at most ${most} characters`),
  );

const visible = (most: number) => v.pipe(text(most), v.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without spaces'));

const withScheme = (host: string): string => (host.includes('://') ? host : `https://${host}`);

const publicHost = v.nullable(
  v.pipe(
    text(500),
    v.transform(withScheme),
    v.check(isSiteUrl, 'must be a host, or an http or https address without query'),
    v.transform((url) => url.replace(/\/+$/, '')),
  ),
);

/** An S3-compatible storage. The keys are never returned. */
export const StorageBody = strictBody({
  endpoint: v.pipe(
    text(500),
    v.check(
      isSiteUrl,
      'must be an address such as https://s3.example.com, without user name, password, query and fragment',
    ),
  ),
  region: v.pipe(text(50), v.regex(/^[A-Za-z0-9-]+$/, 'must be a region such as eu-central-1, or auto')),
  bucket: v.pipe(
    v.string('must be a String'),
    v.regex(
      /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      'must have 3 to 63 small letters, digits, dots and hyphens, and begin and end with a letter or digit',
    ),
  ),
  accessKeyId: visible(200),
  secretAccessKey: visible(500),
  publicHost: v.optional(publicHost),
});

const texts = v.array(v.string());

/** With the CORS rules that the bucket needs. */
export const ConnectedStorageAnswer = success(
  v.object({
    ...project,
    cors: v.array(
      v.object({
        AllowedOrigins: texts,
        AllowedMethods: texts,
        AllowedHeaders: texts,
        ExposeHeaders: texts,
        MaxAgeSeconds: v.number(),
      }),
    ),
  }),
);

const most = 100;
const count = `must have 1 to ${most} paths`;

export const FilePathsBody = strictBody({
  paths: v.pipe(listOf(v.string('must be a String'), most, count, 'must be an Array'), v.minLength(1, count)),
});

/** With the document that a file belongs to. */
export const FilePage = pageOf(
  v.object({
    ...StoredFile.entries,
    document: v.nullable(v.object({ collection: v.string(), id: v.string() })),
  }),
);

export const ReservationsQuery = v.strictObject({ cursor: v.optional(atMost(300)) });

/** Unconfirmed uploads. `endsAt`: when the reservation ends. */
export const ReservationPage = success(
  v.object({
    items: v.array(
      v.object({
        path: v.string(),
        name: v.string(),
        size: v.number(),
        contentType: v.string(),
        visibility,
        owner: v.nullable(v.string()),
        createdAt: v.date(),
        endsAt: v.date(),
      }),
    ),
    nextCursor: v.optional(v.string()),
  }),
);

export const ReservationBody = strictBody(changedPath);

/** In the order of the request. */
export const DeletedFilesAnswer = success(
  v.object({ items: v.array(v.object({ path: v.string(), deleted: v.boolean() })) }),
);

export const ProjectUploadRequestBody = strictBody(requestedUpload);
export const ProjectUploadConfirmBody = strictBody(uploaded);
export const RequestedUploadAnswer = success(UploadRequestAnswer);
export const ConfirmedUploadAnswer = success(v.object(confirmedUpload));
export const ProjectLinksBody = strictBody(askedLinks);
export const ProjectVisibilityBody = strictBody(changedVisibility);
