import { createEmulator } from 'emulate';
import { createMailProvider } from './mail-provider/server.ts';
import { listen } from './ports.ts';

// Runs the emulated providers in a process of its own: provider-host.ts GITHUB GOOGLE MAIL RESEND WEBHOOK, the ports to
// take, each on loopback, and where events about mails go, signed with the first of MAIL_WEBHOOK_SECRET. MAIL is the
// provider that the service sees, RESEND the emulator behind it. Prints "up"; ends with its standard input.

/** No OAuth clients are registered, so that any client id and redirect address works. */
const seed = {
  github: {
    users: [
      { login: 'octocat', name: 'Octo Cat', email: 'octocat@example.com' },
      { login: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
    ],
  },
  google: {
    users: [
      { email: 'ada@example.com', name: 'Ada Lovelace', email_verified: true },
      { email: 'grace@example.com', name: 'Grace Hopper', email_verified: true },
      { email: 'unverified@example.com', name: 'Not Verified', email_verified: false },
    ],
  },
};

const [github = '', google = '', mail = '', resend = '', webhook = ''] = process.argv.slice(2);
const ports = { github, google, resend } as const;
const at = (port: string): string => `http://127.0.0.1:${port}`;
const shownAt = { github, google, resend: mail } as const;

for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
process.stdin.resume();

await Promise.all(
  (['github', 'google', 'resend'] as const).map((service) =>
    createEmulator({ service, port: Number(ports[service]), baseUrl: at(shownAt[service]), seed }),
  ),
);
const mailProvider = createMailProvider({
  origin: at(mail),
  emulator: at(resend),
  webhook: { url: webhook, secrets: process.env.MAIL_WEBHOOK_SECRET ?? '' },
});
await listen(mailProvider, Number(mail));
process.stdout.write('up\n');
