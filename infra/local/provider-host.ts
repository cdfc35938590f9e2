import { createEmulator } from 'emulate';
import { createIdentityProviders } from './identity-providers/server.ts';
import { createMailProvider } from './mail-provider/server.ts';
import { listen, originAt } from './ports.ts';
import { emulations, standIns } from './social-stand-ins.ts';

// Runs the emulated providers in a process of its own: provider-host.ts MAIL RESEND WEBHOOK and a port for each of
// `standIns`. MAIL and RESEND are ports, too, all on loopback: the mail provider that the service sees, and the
// emulator behind it. WEBHOOK is where events about mails go, signed with the first of MAIL_WEBHOOK_SECRET. Prints
// "up"; ends with its standard input.

const [mail = '', resend = '', webhook = '', ...social] = process.argv.slice(2);
const at = (port: string): string => originAt(Number(port));

for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
process.stdin.resume();

await Promise.all([
  ...standIns.map(async (name, index) => {
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
process.stdout.write('up\n');
