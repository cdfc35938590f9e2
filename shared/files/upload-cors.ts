/** Any web page may put files with a presigned URL: the URL itself is the permission (contract 4, "The PUT"). */
export const uploadCors = {
  origins: ['*'],
  methods: ['PUT', 'GET', 'HEAD'],
  requestHeaders: ['content-type', 'content-length'],
  exposedHeaders: ['etag'],
  maxAgeSeconds: 3600,
} as const;

/**
 * The same for a bucket of a project's own, to be pasted there as S3's console and `put-bucket-cors` take it. `OPTIONS`
 * is no method that S3 takes in a rule: it answers preflights by the others.
 */
export const bucketCors = [
  {
    AllowedOrigins: uploadCors.origins,
    AllowedMethods: uploadCors.methods,
    AllowedHeaders: uploadCors.requestHeaders,
    ExposeHeaders: uploadCors.exposedHeaders,
    MaxAgeSeconds: uploadCors.maxAgeSeconds,
  },
];
