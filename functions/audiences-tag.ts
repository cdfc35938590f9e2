import type { Tag } from '../shared/http/openapi/describe-api.ts';

/** The tag of audiences, contacts and broadcasts in both API descriptions. */
export const audiencesTag: Tag = {
  name: 'Audiences and broadcasts',
  description: 'Lists of contacts at the mail provider, and mails to all of a list.',
};
