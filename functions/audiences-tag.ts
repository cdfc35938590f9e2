import type { Tag } from '../shared/http/openapi/describe-api.ts';

export const audiencesTag: Tag = {
  name: 'Audiences and broadcasts',
  description: 'Contact lists at the mail provider, and emails to a whole list.',
};
