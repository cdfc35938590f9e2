import { hash } from 'node:crypto';
import { clock } from '../core/clock.ts';
import type { Project } from '../projects/project.ts';

/** The namespace of the channels of rooms in the Event API. Its handler is `infra/stacks/room-handler.js`. */
export const roomNamespace = 'rooms';

/** A room's channel gets another name after this time. */
export const roomSeconds = 900;

/** A document, whose readers share a room. */
export interface RoomOf {
  readonly collection: string;
  readonly id: string;
}

interface RoomChannel {
  readonly channel: string;
  /** Seconds until the channel's name changes, from 1 to 900. */
  readonly secondsLeft: number;
}

/** The present channel of a document. Each room changes at a time of its own, so that clients do not all return together. */
export const roomChannelOf = (project: Project, collectionId: string, id: string): RoomChannel => {
  const name = hash('sha256', `${project.id}/${collectionId}/${id}`).slice(0, 32);
  const shifted = Math.floor(clock.now() / 1000) + (Number.parseInt(name.slice(0, 8), 16) % roomSeconds);
  return {
    channel: `/${roomNamespace}/${name}/${Math.floor(shifted / roomSeconds).toString(36)}`,
    secondsLeft: roomSeconds - (shifted % roomSeconds),
  };
};
