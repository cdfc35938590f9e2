import * as v from 'valibot';

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

const requestId = v.optional(v.pipe(v.string(), v.maxLength(100)));

const schema = v.variant('task', [
  v.strictObject({ task: v.literal('purge-trash'), projectId: id, requestId }),
  v.strictObject({ task: v.literal('transfer'), transferId: id, requestId }),
]);

/** A message of the work queue, as JSON; whatever it needs besides is in the database. */
export type Task = v.InferOutput<typeof schema>;

export const parseTask = (body: string): Task | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(body));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};
