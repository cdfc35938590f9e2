import type { EventKind } from '../projects/project.ts';

export const webhookEvents = [
  'document.created',
  'document.updated',
  'document.deleted',
  'user.created',
  'user.updated',
  'user.deleted',
  'file.confirmed',
  'file.deleted',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

export const kindOf = (event: WebhookEvent): EventKind => event.split('.', 1)[0] as EventKind;

export const kindsOf = (events: readonly WebhookEvent[]): readonly EventKind[] => [...new Set(events.map(kindOf))];
