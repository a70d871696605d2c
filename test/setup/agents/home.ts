/** A home with the settings of every agent, in realistic forms: comments, odd formatting, nested projects, TOML. */
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TemporaryFolder } from "../../support/temporary.ts";

/** Made up. */
export const secrets = {
  github: "ghp_ofNobody0123456789",
  sentry: "secret-of-figma-9f8e7d6c",
  password: "correct-horse-7-battery",
  helper: "h3lper/0815/of-nobody",
  notion: "ntn_ofNobody5551234",
};

const claudeCode = (home: string) => `{
  "numStartups": 42,
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${secrets.github}" }
    },
    "docs": { "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer \${DOCS_TOKEN:-none}" } },
    "old": { "type": "sse", "url": "https://sse.example.com/sse", "timeout": 90000 },
    "signed": { "type": "http", "url": "https://oauth.example.com/mcp", "oauth": { "clientId": "abc", "callbackPort": 8123, "authServerMetadataUrl": "https://as.example.com" } },
    "helped": { "type": "http", "url": "https://helper.example.com/mcp", "headersHelper": "/opt/headers.sh --team \${TEAM:-all}" },
    "ide": { "type": "sse-ide", "url": "http://localhost:1234/sse", "headers": { "X-Odd": "${secrets.helper}" } }
  },
  "projects": {
    "${home}/code/shop": {
      "allowedTools": [],
      "mcpServers": {
        "inner": { "type": "http", "url": "https://inner.example.com/mcp", "headersHelper": "./bin/headers" },
        "db": { "command": "node", "args": ["./tools/db.js", "\${DATABASE_URL}"], "env": {} },
        "off": { "command": "node", "args": ["off.js"] }
      },
      "disabledMcpServers": ["off"],
      "disabledMcpjsonServers": ["team-off"]
    },
    "${home}/code/empty": { "mcpServers": {} }
  },
  "oauthAccount": { "emailAddress": "somebody@example.com" }
}
`;

const mcpJson = `{
\t"mcpServers": {
\t\t"team": { "command": "\${TEAM_BIN:-team-mcp}", "args": ["--root", "."] },
\t\t"team-off": { "command": "team-off" }
\t}
}`;

const claudeDesktop = `{
    "globalShortcut": "Ctrl+Space",
    "mcpServers": {
        "filesystem": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"]
        },
        "github": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-github"],
            "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${secrets.github}" }
        }
    }
}
`;

const cursor = `{
  // what I use every day
  "mcpServers": {
    /* errors */
    "sentry": {
      "url": "https://mcp.sentry.dev/mcp",
      "headers": { "Authorization": "Bearer \${env:SENTRY_TOKEN}" },
    },
    "notion": {
      "command": "npx",
      "args": ["-y", "notion-mcp", "--home", "\${userHome}/notes", "--in", "\${workspaceFolder}"],
      "env": { "NOTION_TOKEN": "${secrets.notion}" },
      "envFile": "\${userHome}/cursor.env",
    }, // the last one
    "figma": { "url": "https://mcp.figma.com/mcp", "auth": { "CLIENT_ID": "\${env:FIGMA_ID}", "CLIENT_SECRET": "${secrets.sentry}", "scopes": ["read"] } },
  },
}
`;

const cursorProject = `{"mcpServers":{"local":{"command":"node","args":["\${workspaceFolder}/server.js","\${workspaceFolderBasename}"]}}}`;

const vscode = `{
\t"inputs": [
\t\t{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true }
\t],
\t"servers": {
\t\t// asks for its key
\t\t"perplexity": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "server-perplexity-ask", "--key=\${input:perplexity-key}"],
\t\t\t"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}", "HOME_DIR": "\${env:HOME}" },
\t\t\t"dev": { "watch": "**/*.ts" }
\t\t},
\t\t"remote": { "type": "http", "url": "https://api.example.com/mcp", "headers": { "X-Key": "\${input:perplexity-key}" } },
\t\t"socket": { "type": "http", "url": "unix:///tmp/server.sock" }
\t}
}
`.replaceAll("\n", "\r\n");

const vscodeSettings = `{
  "editor.fontSize": 13,
  "mcp": { "servers": { "legacy": { "command": "legacy-mcp" } } }, // from before mcp.json
  "files.eol": "\\n"
}
`;

const windsurf = `{
  "mcpServers": {
    "linear": { "serverUrl": "https://mcp.linear.app/mcp", "headers": { "Authorization": "Bearer \${file:~/.linear}" } },
    "puppeteer": { "command": "npx", "args": ["-y", "puppeteer-mcp"], "disabled": true, "disabledTools": ["click"] }
  }
}`;

const codex = `# my codex
model = "gpt-5"   # the good one
approval_policy = "on-request"

[mcp_servers.github]   # same as elsewhere
command = "npx"
args = [
  "-y", # yes
  "@modelcontextprotocol/server-github",
]
startup_timeout_sec = 20

[mcp_servers.github.env]
GITHUB_PERSONAL_ACCESS_TOKEN = "${secrets.github}"

# stripe, for invoices
[mcp_servers.stripe]
url = "https://mcp.stripe.com"
bearer_token_env_var = "STRIPE_KEY"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Account" = "STRIPE_ACCOUNT" }
tool_timeout_sec = 120.0

[mcp_servers."my server"]
command = '/usr/bin/env'
args = ['X=1', "my-server"]
env_vars = ["LANG", { name = "TZ", source = "local" }]
enabled = false
enabled_tools = ["one"]

[profiles.fast]
model = "gpt-5-mini"

[projects."/home/me/work"]
trust_level = "trusted"
`;

const codexProject = `[mcp_servers]
inline = { command = "inline-mcp", args = ["--x"], cwd = "tools" }
dotted.command = "dotted-mcp"
dotted.env.A = "b"

[tui]
notifications = true`;

const gemini = `{
  "theme": "Dracula",
  /* servers */
  "mcpServers": {
    "maps": { "httpUrl": "https://maps.example.com/mcp?key=$MAPS_KEY", "timeout": 5000 },
    "python": { "command": "python", "args": ["-m", "server"], "env": { "DB": "$DB_URL", "KEY": "\${EXTERNAL_KEY}" }, "cwd": "./servers", "trust": true, "includeTools": ["safe"] },
    "events": { "url": "https://events.example.com/sse", "oauth": { "enabled": true, "clientId": "gem", "scopes": ["a", "b"] } },
    "excluded": { "command": "excluded-mcp" }
  },
  "mcp": { "allowed": ["maps", "python", "events"], "excluded": ["excluded"] }
}
`;

const opencode = `{
  "$schema": "https://opencode.ai/config.json",
  // local and remote
  "mcp": {
    "everything": {
      "type": "local",
      "command": ["bun", "x", "@modelcontextprotocol/server-everything"],
      "environment": { "A": "{env:A_VALUE}" },
      "enabled": true,
      "timeout": 8000,
    },
    "jira": {
      "type": "remote",
      "url": "https://jira.example.com/mcp",
      "headers": { "Authorization": "Bearer {env:JIRA_TOKEN}", "X-File": "{file:./key.txt}" },
      "oauth": { "clientId": "{env:JIRA_ID}", "scope": "read write" },
      "enabled": false,
    },
    "noauth": { "type": "remote", "url": "https://noauth.example.com/mcp", "oauth": false },
  },
}
`;

const opencodeProject = `{
  "mcp": {
    "timeout": { "catalog": 1000 },
    "servers": {
      "nested": { "type": "local", "command": ["nested-mcp"], "disabled": true, "timeout": { "catalog": 30000, "execution": 40000 } }
    }
  }
}
`;

const zed = `// Zed settings
{
  "ui_font_size": 16,
  "context_servers": {
    "custom": { "source": "custom", "command": "zed-mcp", "args": ["--flag"], "env": { "PASSWORD": "${secrets.password}" } },
    "older": { "command": { "path": "older-mcp", "args": ["run"], "env": { "B": "c" } }, "settings": {} },
    "web": { "url": "https://zed.example.com/mcp", "headers": { "Authorization": "Bearer t0ken-of-zed-1234" }, "enabled": false },
    "postgres-context-server": { "source": "extension", "enabled": true, "settings": { "database_url": "postgresql://me:${secrets.password}@localhost/x" } }
  },
  "theme": { "mode": "system", "light": "One Light" }, // light
}
`;

const copilot = `{
  "mcpServers": {
    "playwright": { "type": "local", "command": "npx", "args": ["@playwright/mcp@latest"], "env": {}, "tools": ["*"], "timeout": 9000 },
    "context7": { "type": "http", "url": "https://mcp.context7.com/mcp", "headers": { "CONTEXT7_API_KEY": "ctx-0f-nobody" }, "tools": ["query-docs"] }
  }
}
`;

const copilotProject = `{ "mcpServers": { "shared": { "type": "local", "command": "shared-mcp" } } }\n`;

const antigravity = `{
  "mcpServers": {
    "maps-of-google": { "serverUrl": "https://maps.example.org/mcp", "headers": { "X-Key": "k" }, "disabledTools": ["route"] },
    "signed-in": { "serverUrl": "https://cloud.example.org/mcp", "authProviderType": "google_credentials" },
    "off-agy": { "command": "off-agy", "disabled": true }
  }
}`;

const kiro = `{
  "mcpServers": {
    "aws-docs": { "command": "uvx", "args": ["aws-docs@latest"], "env": { "LEVEL": "\${LEVEL}" }, "disabled": false, "autoApprove": ["read"], "disabledTools": ["drop"] },
    "kiro-web": { "url": "https://kiro.example.com/mcp", "headers": { "Authorization": "Bearer \${LEVEL}" }, "disabled": true, "autoApprove": [] }
  }
}
`;

const kiroProject = `{ "mcpServers": { "kiro-local": { "command": "node", "args": ["kiro.js"] } } }`;

const crush = `{
  "$schema": "https://charm.land/crush.json",
  "mcp": {
    "crush-files": { "type": "stdio", "command": "node", "args": ["files.js"], "timeout": 120, "disabled_tools": ["rm"], "env": { "A": "$LEVEL" } },
    "crush-web": { "type": "http", "url": "https://crush.example.com/mcp", "headers": { "Authorization": "Bearer $LEVEL" }, "disabled": true },
    "crush-shell": { "type": "sse", "url": "https://crush.example.com/sse", "headers": { "API-Key": "$(echo $API_KEY)" } }
  },
  "options": { "debug": true }
}
`;

const amp = `{
  // found in the manual
  "amp.notifications.enabled": false,
  "amp.mcpServers": {
    "amp-local": { "command": "npx", "args": ["-y", "amp-local"], "includeTools": ["navigate_*"] },
    "amp-web": { "url": "https://amp.example.com/mcp", "headers": { "Authorization": "token \${LEVEL}" } },
  },
}
`;

const qwen = `{
  "mcpServers": {
    "qwen-python": { "command": "python", "args": ["-m", "q"], "env": { "DB": "$LEVEL" }, "timeout": 15000, "discoveryTimeoutMs": 60000, "trust": true },
    "qwen-web": { "httpUrl": "https://qwen.example.com/mcp", "excludeTools": ["x"] },
    "qwen-hidden": { "command": "hidden" }
  },
  "mcp": { "allowed": ["qwen-*"], "excluded": ["*-hidden"] }
}
`;

const roo = `{
  "mcpServers": {
    "roo-local": { "command": "node", "args": ["\${env:LEVEL}"], "alwaysAllow": ["a"], "disabledTools": ["b"], "timeout": 30, "watchPaths": ["dist"] },
    "roo-web": { "type": "streamable-http", "url": "https://roo.example.com/mcp", "disabled": true, "alwaysAllow": [] }
  }
}
`;

const rooProject = `{"mcpServers":{"roo-project":{"command":"node","args":["roo.js"]}}}`;

const cline = `{
  "mcpServers": {
    "cline-local": { "command": "node", "args": ["c.js"], "disabled": false, "autoApprove": ["c"], "timeout": 60 },
    "cline-web": { "url": "https://cline.example.com/mcp", "type": "streamableHttp", "headers": { "X": "y" } }
  }
}
`;

const clineOlder = `{ "mcpServers": { "cline-older": { "transportType": "sse", "url": "https://cline.example.com/sse" } } }`;

export interface Home {
  path: string;
  /** The folder of a project with its own settings files. */
  project: string;
  env: Record<string, string>;
  /** All settings files that were written, by their paths below the home. */
  files: string[];
}

/** What the entries refer to: a server whose variables are not set stays with its agent. */
const variables = Object.fromEntries(
  ["SENTRY_TOKEN", "FIGMA_ID", "PERPLEXITY_API_KEY", "PERPLEXITY_KEY", "LINEAR_LINEAR", "STRIPE_ACCOUNT", "STRIPE_KEY"]
    .concat(
      "MAPS_KEY",
      "DB_URL",
      "EXTERNAL_KEY",
      "A_VALUE",
      "JIRA_KEY_TXT",
      "JIRA_TOKEN",
      "JIRA_ID",
      "DATABASE_URL",
      "LEVEL",
    )
    .map((name) => [name, `value-of-${name}`]),
);

/** For Linux, with the default XDG folders. */
export function homeWithHosts(folder: TemporaryFolder): Home {
  const path = join(folder.path, "home");
  const project = join(path, "code", "shop");
  const texts: Record<string, string> = {
    ".claude.json": claudeCode(path),
    "code/shop/.mcp.json": mcpJson,
    ".config/Claude/claude_desktop_config.json": claudeDesktop,
    "code/shop/.cursor/mcp.json": cursorProject,
    ".config/Code/User/mcp.json": vscode,
    ".config/Code/User/settings.json": vscodeSettings,
    ".codeium/windsurf/mcp_config.json": `\uFEFF${windsurf}`,
    ".codex/config.toml": codex,
    "code/shop/.codex/config.toml": codexProject,
    ".gemini/settings.json": gemini,
    ".config/opencode/opencode.jsonc": opencode,
    "code/shop/opencode.json": opencodeProject,
    ".config/zed/settings.json": zed,
    ".copilot/mcp-config.json": copilot,
    "code/shop/.github/mcp.json": copilotProject,
    ".gemini/config/mcp_config.json": antigravity,
    ".kiro/settings/mcp.json": kiro,
    "code/shop/.kiro/settings/mcp.json": kiroProject,
    ".config/crush/crush.json": crush,
    ".config/amp/settings.json": amp,
    ".qwen/settings.json": qwen,
    ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json": roo,
    "code/shop/.roo/mcp.json": rooProject,
    ".cline/data/settings/cline_mcp_settings.json": cline,
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json": clineOlder,
    "dotfiles/cursor.json": cursor,
    "cursor.env": `# of cursor\nexport NOTION_VERSION="2022-06-28"\n\nEMPTY=\n`,
  };
  for (const [name, text] of Object.entries(texts)) folder.write(join("home", name), text);
  mkdirSync(join(project, ".git"), { recursive: true });
  // As for people who keep their settings in a repository.
  const link = join(path, ".cursor", "mcp.json");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join("..", "dotfiles", "cursor.json"), link);
  const files = Object.keys(texts).filter((name) => name !== "cursor.env");
  return { path, project, env: { HOME: path, ...variables }, files };
}
