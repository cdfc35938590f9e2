/** Where the large answers of a project are in our bucket, for two days. */
export const answerPrefix = (projectId: string): string => `answers/${projectId}/`;
