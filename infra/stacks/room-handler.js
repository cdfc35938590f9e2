import { util } from '@aws-appsync/utils';

// The channel namespace of rooms runs this in AppSync's own runtime, which has no `for (;;)`, `throw`, `++` or regular
// expressions. The local service runs the same file.

const maxEventBytes = 1024;

/** Base64 has four characters for three bytes; `=` stands for the missing ones. */
const bytesOf = (text) => {
  const encoded = util.base64Encode(text);
  return (encoded.length / 4) * 3 - (encoded.split('=').length - 1);
};

const isObject = (payload) => typeof payload === 'object' && payload !== null && !Array.isArray(payload);

export function onPublish(ctx) {
  const { userId } = ctx.identity.handlerContext;
  return ctx.events.map(({ id, payload }) => {
    if (!isObject(payload) || bytesOf(JSON.stringify(payload)) > maxEventBytes) {
      util.error('An event is a JSON object of at most 1 KiB.', 'BadRequestException');
    }
    return { id, payload: { ...payload, userId } };
  });
}
