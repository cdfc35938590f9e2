import { createEmulator } from 'emulate';
import { endWithInput, printReady } from './helper-process.ts';
import { emulations, fakeNames } from './identity-providers/fakes.ts';
import { createIdentityProviders } from './identity-providers/server.ts';
import { createMailProvider } from './mail-provider/server.ts';
import { listen, originAt } from './ports.ts';

// Runs the fake providers: provider-host.ts MAIL RESEND WEBHOOK and a port for each of `fakeNames`. MAIL is the port of
// the mail provider that the service uses, and RESEND the port of the emulator behind it. WEBHOOK is the URL for email
// events, which the first secret in MAIL_WEBHOOK_SECRET signs.
const [mail = '', resend = '', webhook = '', ...social] = process.argv.slice(2);
const at = (port: string): string => originAt(Number(port));

endWithInput();
await Promise.all([
  ...fakeNames.map(async (name, index) => {
    const port = social[index] ?? '';
    if (name === 'openid') return listen(await createIdentityProviders(at(port)), Number(port));
    const { service, seed } = emulations[name];
    return createEmulator({ service, port: Number(port), baseUrl: at(port), seed: { [service]: seed } });
  }),
  createEmulator({ service: 'resend', port: Number(resend), baseUrl: at(mail) }),
]);
const mailProvider = createMailProvider({
  origin: at(mail),
  emulator: at(resend),
  webhook: { url: webhook, secrets: process.env.MAIL_WEBHOOK_SECRET ?? '' },
});
await listen(mailProvider, Number(mail));
printReady();
