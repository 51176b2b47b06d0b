/**
 * An agent with a tool of its own: a JSON Schema and a function.
 * Run it: node examples/library/custom-tool.ts scripted:examples/library/weather.json
 * or with a real model: ANTHROPIC_API_KEY=… node examples/library/custom-tool.ts anthropic/ID
 */
import { createAgent, type CustomTool } from "sheaf";

const getWeather: CustomTool<{ city: string }> = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  run: ({ city }) => ({ city, sky: "clear", celsius: 21 }),
};

const [model = "scripted:examples/library/weather.json"] = process.argv.slice(2);
const agent = createAgent({ workspace: ".", model, tools: [getWeather], environment: process.env });
const { documents } = await agent.run("What is the weather in Oslo?").result;
for (const { type, content } of documents) console.log(`${type}: ${content}`);
