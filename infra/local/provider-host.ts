import { createEmulator } from 'emulate';

// Runs the emulated providers in a process of its own: provider-host.ts GITHUB GOOGLE RESEND, the ports to take, each on
// loopback. Prints "up"; ends with its standard input.

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

const [github = '', google = '', resend = ''] = process.argv.slice(2);
const ports = { github, google, resend } as const;

for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
process.stdin.resume();

await Promise.all(
  (['github', 'google', 'resend'] as const).map((service) =>
    createEmulator({ service, port: Number(ports[service]), baseUrl: `http://127.0.0.1:${ports[service]}`, seed }),
  ),
);
process.stdout.write('up\n');
