/**
 * Which web pages may put files with a presigned URL: any, as the URL itself is the permission (contract 4, "The PUT").
 */
export const uploadCors = {
  origins: ['*'],
  methods: ['PUT', 'GET', 'HEAD'],
  requestHeaders: ['content-type', 'content-length'],
  exposedHeaders: ['etag'],
  maxAgeSeconds: 3600,
} as const;
